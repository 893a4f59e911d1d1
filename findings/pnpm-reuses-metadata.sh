#!/usr/bin/env bash
# pnpm 12.21.0, with its default minimum age of releases (a day), installs a package in a new project from the metadata
# that it has once read, without asking the registry again, although the registry sends "Cache-Control: no-cache" and
# every version is years old. So a release is not seen for a day:
#
#   pnpm add @shop/tool          1.0.0, from the registry
#   (the registry gets 1.0.1, which is old enough)
#   pnpm add @shop/tool@latest   1.0.0, without a request
#   pnpm add @shop/tool@1.0.1    1.0.1, because the version is unknown
#
# With `minimumReleaseAge: 0`, `pnpm add @shop/tool` does not read the metadata first: it asks for `/@shop%2Ftool/latest`,
# and fails with ERR_PNPM_PACKAGE_MANAGER_ADD_RESOLVE_LATEST if a registry has only metadata and archives, which is all
# that other package managers need.
set -euo pipefail

folder=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server"; fi; rm -rf "$folder"' EXIT
cd "$folder"
mkdir tools
echo '{"private":true}' >tools/package.json
npm install --prefix tools --silent --no-audit --no-fund pnpm@12.21.0 node@22

cat >registry.mjs <<'JS'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const date = '2020-01-01T00:00:00.000Z'
const archives = new Map()
for (const version of ['1.0.0', '1.0.1']) {
  mkdirSync(`${version}/package`, { recursive: true })
  writeFileSync(`${version}/package/package.json`, JSON.stringify({ name: '@shop/tool', version }))
  execFileSync('tar', ['czf', `${version}.tgz`, '-C', version, 'package'])
  archives.set(version, readFileSync(`${version}.tgz`))
}
const server = createServer((request, response) => {
  appendFileSync('requests', `${request.url}\n`)
  const [, archive] = /-(\d+\.\d+\.\d+)\.tgz$/.exec(request.url) ?? []
  if (archive) return response.end(archives.get(archive))
  if (decodeURIComponent(request.url) !== '/@shop/tool') return response.writeHead(404).end('{}')
  const released = existsSync('next') ? ['1.0.0', '1.0.1'] : ['1.0.0']
  const versions = {}
  const time = { created: date, modified: date }
  for (const version of released) {
    const integrity = `sha512-${createHash('sha512').update(archives.get(version)).digest('base64')}`
    const tarball = `http://127.0.0.1:${server.address().port}/@shop/tool/-/tool-${version}.tgz`
    versions[version] = { name: '@shop/tool', version, dist: { tarball, integrity } }
    time[version] = date
  }
  const metadata = { name: '@shop/tool', 'dist-tags': { latest: released.at(-1) }, versions, time }
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache' })
  response.end(JSON.stringify(metadata))
})
server.listen(0, '127.0.0.1', () => writeFileSync('port', String(server.address().port)))
JS
node registry.mjs &
server=$!
until [ -s port ]; do sleep 0.1; done
line="@shop:registry=http://127.0.0.1:$(cat port)/"

# Adds a package to a new project, with a home of its own; prints what was installed, and how often the registry was asked.
add() {
  local home=$1
  shift
  rm -rf project requests
  mkdir -p project "$home"
  touch requests
  echo '{"private":true}' >project/package.json
  echo "$line" >project/.npmrc
  (
    cd project
    env PATH="$folder/tools/node_modules/node/bin:$PATH" HOME="$folder/$home" XDG_CACHE_HOME="$folder/$home" \
      XDG_DATA_HOME="$folder/$home" XDG_CONFIG_HOME="$folder/$home" \
      node "$folder/tools/node_modules/pnpm/bin/pnpm.mjs" "$@" >../output 2>&1 || true
  )
  local installed
  installed=$(sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' project/node_modules/@shop/tool/package.json 2>/dev/null || true)
  echo "${installed:-nothing}, $(wc -l <requests) requests"
}

expect() {
  echo "$1: $3"
  [ "$2" = "$3" ] || {
    echo "expected: $2"
    exit 1
  }
}

expect 'first install' '1.0.0, 2 requests' "$(add one add @shop/tool)"
touch next
expect 'after a release' '1.0.0, 0 requests' "$(add one add @shop/tool@latest)"
expect 'the version by its name' '1.0.1, 2 requests' "$(add one add @shop/tool@1.0.1)"
expect 'without a minimum age' 'nothing, 1 requests' "$(add two add --config.minimumReleaseAge=0 @shop/tool)"
grep -q '/@shop%2Ftool/latest' requests
grep -q ERR_PNPM_PACKAGE_MANAGER_ADD_RESOLVE_LATEST output
