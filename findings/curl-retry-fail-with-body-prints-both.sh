#!/usr/bin/env bash
# `curl --fail-with-body --retry` writes the body of the failed attempt before that of the successful one, and exits 0.
#
# Versions: curl 7.88.1 (Debian 12), jq 1.6 (Debian 12).
# Behaviour: with --retry, a 503 with Retry-After is repeated. Both JSON documents go to standard output one after the
# other, so a program that reads one document fails, and jq, which reads a sequence, silently yields two results: null
# for the error and the real one. -f writes only the last body. With -o, the file has only the last body.
# Neither repeats a 409 with Retry-After, although Retry-After asks for it.
# Output seen:
#   --fail-with-body: null 1 exit 0
#   -f: 1 exit 0
#   -o: 1 exit 0
#   409 -f: exit 22
# Consequence: `curl --fail-with-body --retry | jq` counts an error as an item.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
for program in curl jq; do
  command -v "$program" >/dev/null || apt-get install -y -qq --no-install-recommends "$program" >/dev/null
done
cat > "$folder/server.mjs" <<'JS'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const seen = new Set()
const server = createServer(({ url }, response) => {
  if (seen.has(url)) return response.end('{"data":1}')
  seen.add(url)
  response.writeHead(url.startsWith('/409') ? 409 : 503, { 'Retry-After': '1' }).end('{"error":{}}')
})
server.listen(0, '127.0.0.1', () => writeFileSync(process.argv[2], String(server.address().port)))
JS
node "$folder/server.mjs" "$folder/port" &
server=$!
until [ -s "$folder/port" ]; do sleep 0.1; done
base=http://127.0.0.1:$(cat "$folder/port")
curl --version | head -1
result=
try() { # name, path, curl's options
  name=$1 path=$2 code=0
  shift 2
  curl -s --retry 2 "$@" "$base/$path" > "$folder/body" || code=$?
  [ -e "$folder/saved" ] && mv "$folder/saved" "$folder/body"
  printed=$(jq .data "$folder/body" | tr '\n' ' ')
  result+="$name: ${printed}exit $code"$'\n'
}
try '--fail-with-body' one --fail-with-body
try '-f' two -f
try '-o' three --fail-with-body -o "$folder/saved"
try '409 -f' 409 -f
printf %s "$result"
[ "$result" = "--fail-with-body: null 1 exit 0
-f: 1 exit 0
-o: 1 exit 0
409 -f: exit 22
" ]
