import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { seedBooking, sharedServices, testApp } from '../../support/app.ts'

const modules = ['mpm_event', 'authz_core', 'filter', 'deflate', 'brotli', 'proxy', 'proxy_http']

/** Starts an Apache that compresses everything with this filter, with its own settings otherwise; returns its address. */
async function startApache(target: string, filter: 'DEFLATE' | 'BROTLI_COMPRESS'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-apache-'))
  // The workers run under another account.
  await chmod(folder, 0o755)
  const port = await freePort()
  const lines = [
    `ServerRoot ${folder}`,
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    `Listen 127.0.0.1:${port}`,
    'ServerName localhost',
    'User www-data',
    'Group www-data',
    `PidFile ${folder}/pid`,
    `ErrorLog ${folder}/error.log`,
    `SetOutputFilter ${filter}`,
    `ProxyPass / ${target}/`,
  ]
  const file = join(folder, 'apache.conf')
  await writeFile(file, `${lines.join('\n')}\n`)
  const child = Bun.spawn(['/usr/sbin/apache2', '-f', file, '-D', 'FOREGROUND'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await child.exited
    await rm(folder, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  const isUp = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(isUp).toBe(true)
  return url
}

test.each([
  ['gzip', 'DEFLATE'],
  ['br', 'BROTLI_COMPRESS'],
] as const)(
  'a client behind an Apache that compresses with %s gets a 304 for the tag that it got',
  async (encoding, filter) => {
    const [{ url: target }] = sharedServices()
    const url = await startApache(target, filter)
    const actor = await (await testApp()).actor()
    await seedBooking(actor)
    for (const path of ['/v1/integrations/provider_one/bookings', '/v1/integrations/provider_one/messages']) {
      const headers = { 'x-api-key': actor.key, 'accept-encoding': encoding }
      const page = await fetch(url + path, { headers })
      await page.arrayBuffer()
      const etag = page.headers.get('etag') ?? ''
      expect({ encoding: page.headers.get('content-encoding'), etag }).toEqual({
        encoding,
        etag: expect.stringMatching(new RegExp(`-${encoding}"$`)),
      })
      const again = await fetch(url + path, { headers: { ...headers, 'if-none-match': etag } })
      expect({ path, status: again.status }).toEqual({ path, status: 304 })
    }
  },
)
