#!/usr/bin/env bash
# libcurl sends a POST or a PATCH a second time by itself if a reused connection ends before a response.
#
# Versions: curl 7.88.1 (Debian 12, libcurl4 7.88.1-10+deb12u15); the same in PHP 8.2's curl, which uses this library.
# Behaviour: the server reads the whole second request of a connection, so it may have carried it out, and then closes
# without a response. libcurl opens a new connection and sends the same body again. Neither --retry nor any other
# option asked for it, and the exit status is 0. On a first request of a connection it reports "Empty reply" (52).
# Output seen:
#   POST reused: carried out 2 times, exit 0
#   PATCH reused: carried out 2 times, exit 0
#   POST first: carried out 1 times, exit 52
# Consequence: a request that creates something needs an idempotency key even if the program never repeats it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
command -v curl >/dev/null || apt-get install -y -qq --no-install-recommends curl >/dev/null
cat > "$folder/server.mjs" <<'JS'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const counts = {}
const server = createServer(async (request, response) => {
  for await (const _ of request);
  const { url } = request
  counts[url] = (counts[url] ?? 0) + 1
  if (url.startsWith('/lost') && counts[url] === 1) return request.socket.destroy()
  response.end(url === '/counts' ? JSON.stringify(counts) : '{}')
})
server.listen(0, '127.0.0.1', () => writeFileSync(process.argv[2], String(server.address().port)))
JS
node "$folder/server.mjs" "$folder/port" &
server=$!
until [ -s "$folder/port" ]; do sleep 0.1; done
base=http://127.0.0.1:$(cat "$folder/port")
curl --version | head -1
result=
try() { # name, method, warm or nothing
  code=0
  if [ "$3" = reused ]; then
    curl -s -o /dev/null "$base/warm" --next -s -o /dev/null -X "$2" -d '{}' "$base/lost-$1" || code=$?
  else
    curl -s -o /dev/null -X "$2" -d '{}' "$base/lost-$1" || code=$?
  fi
  times=$(curl -s "$base/counts" | node -p "JSON.parse(require('fs').readFileSync(0, 'utf8'))['/lost-$1']")
  result+="$2 $3: carried out $times times, exit $code"$'\n'
}
try one POST reused
try two PATCH reused
try three POST first
printf %s "$result"
[ "$result" = "POST reused: carried out 2 times, exit 0
PATCH reused: carried out 2 times, exit 0
POST first: carried out 1 times, exit 52
" ]
