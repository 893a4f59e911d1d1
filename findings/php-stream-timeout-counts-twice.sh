#!/usr/bin/env bash
# PHP's HTTP stream waits for twice its `timeout`, and then returns the response as if nothing had happened.
#
# Versions: PHP 8.2.36 (Debian 12, php8.2-cli 8.2.36-1~deb12u1).
# Behaviour: file_get_contents() with protocol_version 1.1 and the header `Connection: keep-alive` ignores
# Content-Length and reads until the server closes. The server has answered completely and keeps the connection open,
# as HTTP/1.1 has it. With `timeout` => 2 the call takes 4 s, returns the whole body, and warns of nothing. Without the
# header, PHP sends `Connection: close` and returns at once.
# Output seen:
#   keep-alive, timeout 1: {"data":1} after 2 s
#   keep-alive, timeout 2: {"data":1} after 4 s
#   default, timeout 2: {"data":1} after 0 s
# Consequence: a poller in PHP that asks for kept connections is slow by a multiple of its time-out, with no error.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
command -v php >/dev/null || apt-get install -y -qq --no-install-recommends php-cli >/dev/null
cat > "$folder/server.mjs" <<'JS'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const server = createServer((_, response) => {
  response.setHeader('Content-Length', 10)
  response.end('{"data":1}')
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => writeFileSync(process.argv[2], String(server.address().port)))
JS
cat > "$folder/client.php" <<'PHP'
<?php
[, $url, $name, $timeout] = $argv;
$http = ['protocol_version' => 1.1, 'timeout' => (float) $timeout];
if ($name === 'keep-alive') {
    $http['header'] = 'Connection: keep-alive';
}
$begun = hrtime(true);
$body = file_get_contents($url, false, stream_context_create(['http' => $http]));
printf("%s, timeout %d: %s after %d s\n", $name, $timeout, $body, round((hrtime(true) - $begun) / 1e9));
PHP
node "$folder/server.mjs" "$folder/port" &
server=$!
until [ -s "$folder/port" ]; do sleep 0.1; done
base=http://127.0.0.1:$(cat "$folder/port")/
php --version | head -1
result=$(for row in 'keep-alive 1' 'keep-alive 2' 'default 2'; do
  # shellcheck disable=SC2086
  php "$folder/client.php" "$base" $row 2>&1
done)
echo "$result"
[ "$result" = 'keep-alive, timeout 1: {"data":1} after 2 s
keep-alive, timeout 2: {"data":1} after 4 s
default, timeout 2: {"data":1} after 0 s' ]
