<?php
require __DIR__ . '/partner.php';

partner(function (string $method, string $url, array $headers, ?string $body): array {
    $options = ['method' => $method, 'header' => $headers, 'ignore_errors' => true, 'timeout' => 60];
    if ($body !== null) {
        $options['content'] = $body;
    }
    $answer = file_get_contents($url, false, stream_context_create(['http' => $options]));
    $fields = [];
    foreach (array_slice($http_response_header, 1) as $line) {
        [$name, $value] = explode(': ', $line, 2);
        $fields[strtolower($name)] = $value;
    }
    return [(int) explode(' ', $http_response_header[0])[1], $fields, $answer];
});
