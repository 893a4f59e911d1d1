import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../support/processes.ts'

/**
 * Runs in a network of its own, in which IPv6 is switched off as on many hosts of containers: prints the status of
 * `/healthz` over IPv4 once the service responds, and then over IPv6.
 */
const script = `
set -eu
ip link set lo up
for scope in all default lo; do echo 1 > /proc/sys/net/ipv6/conf/$scope/disable_ipv6; done
"$BUN" src/main.ts >/dev/null 2>&1 &
service=$!
trap 'kill $service; wait $service || true' EXIT
curl -s -o /dev/null --retry 100 --retry-delay 1 --retry-connrefused -w '%{http_code} ' http://127.0.0.1:3000/healthz
curl -s -o /dev/null -w '%{http_code}' 'http://[::1]:3000/healthz' || true
`

test.each(['1', '2'])('HOST=:: with WORKERS=%s serves IPv4 on a machine without IPv6', async (WORKERS) => {
  const settings = {
    HOST: '::',
    WORKERS,
    PUBLIC_URL: 'http://localhost:3000',
    DATA_DIR: await mkdtemp(join(tmpdir(), 'partner-without-ipv6-')),
    BUN: process.execPath,
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '/root',
  }
  const { stdout } = await Bun.$`unshare --net sh -c ${script}`.cwd(root).env(settings).quiet()
  expect(stdout.toString()).toBe('200 000')
})
