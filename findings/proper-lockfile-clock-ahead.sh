#!/usr/bin/env bash
# proper-lockfile 4.1.2 decides by the clock of the process that looks whether a lock is stale.
#
# Two hosts share a folder. One holds a lock and renews it every 2 s. The other one's clock is 30 s ahead of the file
# server's, and its `lock` succeeds with the default `stale` of 10 s: both hold the lock. The first one is told within
# its next renewal (`onCompromised`), after the other has begun. With equal clocks, the other gets ELOCKED.
#
# Output seen with Node 20.20:
#   equal clocks: ELOCKED
#   30 s ahead: locked as well
#   first holder: ECOMPROMISED
#
# Exits with 1 if the second `lock` no longer succeeds.
set -euo pipefail
folder=$(mktemp -d)
holder=
cleanup() {
  [ -z "$holder" ] || kill -KILL "$holder" 2>/dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-fund --no-audit proper-lockfile@4.1.2
touch state.json

cat >hold.js <<'JS'
import { setTimeout } from 'node:timers/promises'
import lockfile from 'proper-lockfile'

const onCompromised = ({ code }) => {
  console.log(`first holder: ${code}`)
  process.exit()
}
await lockfile.lock('state.json', { update: 2000, onCompromised })
console.log('held')
await setTimeout(60_000)
JS

cat >try.js <<'JS'
import lockfile from 'proper-lockfile'

const aheadMilliseconds = Number(process.argv[2]) * 1000
const read = Date.now
Date.now = () => read() + aheadMilliseconds
const outcome = await lockfile.lock('state.json').then(
  () => 'locked as well',
  ({ code }) => code,
)
console.log(outcome)
// Ends without releasing the lock, as a holder that still works would.
process.kill(process.pid, 'SIGKILL')
JS

touch holder.txt
node hold.js >holder.txt &
holder=$!
until grep -q held holder.txt; do sleep 0.1; done
equal=$(node try.js 0 || true)
ahead=$(node try.js 30 || true)
wait "$holder" || true
holder=
echo "equal clocks: $equal"
echo "30 s ahead: $ahead"
grep 'first holder' holder.txt
[ "$equal" = ELOCKED ] && [ "$ahead" = 'locked as well' ]
