import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeCertificates } from '../../support/certificates.ts'
import { root } from '../../support/processes.ts'

test('no redirect leads a reading into the private network, and the blocks stay', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-own-network-'))
  await makeCertificates(folder, 1, 'IP:93.184.216.34,IP:127.0.0.1,DNS:localhost')
  const script = `ip link set lo up && ip addr add 93.184.216.34/32 dev lo && exec "$0" "$1" "$2"`
  const program = 'test/soak/calendars/own-network.program.ts'
  const { stdout } =
    await Bun.$`unshare --user --map-root-user --net sh -c ${script} ${process.execPath} ${program} ${folder}`
      .cwd(root)
      .quiet()
  expect(JSON.parse(stdout.toString())).toEqual({
    entries: {
      none: 'ok  200 4',
      'https://127.0.0.1/file': 'failing address 302 4',
      'https://localhost/file': 'failing address 302 4',
      'https://[::1]/file': 'failing address 302 4',
      'https://169.254.169.254/latest/meta-data': 'failing address 302 4',
      'http://93.184.216.34/file': 'failing redirect 302 4',
    },
    asked: 0,
  })
})
