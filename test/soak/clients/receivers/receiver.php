<?php
// Served by `php -S`. The guide's sample lies beside this file.
require __DIR__ . '/verify.php';

$headers = array_change_key_case(getallheaders());
$isHint = verify($headers, file_get_contents('php://input'), getenv('WEBHOOK_SECRET'));
http_response_code($isHint ? 204 : 401);
