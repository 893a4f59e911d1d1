import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect, test } from 'vitest'
import { testApp, testEnvironment } from '../../support/app.ts'
import { type Certificates, makeCertificates } from '../../support/certificates.ts'
import { seriesOf } from '../../support/metrics.ts'
import { runService, startService, workersOf } from '../../support/processes.ts'
import { makePair, newFolder, settingsFor, suiteOf } from '../../support/tls.ts'

const [first, second] = await Promise.all([makePair(), makePair()])

/** Opens a connection and returns the fingerprint of the server's certificate, which the authority must have issued. */
function certificateOf(url: string, { authority }: Certificates): Promise<string> {
  return new Promise((resolve, reject) => {
    readFile(authority, 'utf8').then((ca) => {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), ca }, () => {
        resolve(socket.getPeerCertificate().fingerprint256)
        socket.end()
      })
      socket.on('error', reject)
    })
  })
}

test.each([1, 2, 3])(
  'SIGHUP renews the certificate of %i workers without a lost request, and a pair that does not match is not taken',
  async (workers) => {
    const METRICS_TOKEN = 'a-token-of-the-operator'
    const settings = await settingsFor(first)
    const service = await startService({
      ...testEnvironment({ WORKERS: String(workers), METRICS_TOKEN }),
      ...settings,
    })
    const { key } = await (await testApp()).actor()
    const ask = async (path: string, authority: string, headers: Record<string, string>) =>
      fetch(`${service.url}${path}`, { headers, tls: { ca: await readFile(authority, 'utf8') } })
    const roll = async () => {
      const before = await workersOf(service.pid)
      process.kill(service.pid, 'SIGHUP')
      while ((await workersOf(service.pid)).some((pid) => before.includes(pid))) await Bun.sleep(50)
    }

    // The image's health check must not depend on the certificate's names.
    const [, check = ''] = /HEALTHCHECK[^[]+CMD (\[.+\])/.exec(await readFile('Dockerfile', 'utf8')) ?? []
    const [, ...checking] = JSON.parse(check) as string[]
    const env = { ...settings, PORT: new URL(service.url).port }
    expect(await Bun.spawn([process.execPath, ...checking], { env, stderr: 'ignore' }).exited).toBe(0)

    const authorization = `Bearer ${METRICS_TOKEN}`
    for (const host of ['a', 'ab']) {
      const led = await ask('/x/metrics', first.authority, { host, authorization })
      expect({ host, status: led.status }).toEqual({ host, status: 404 })
      expect(led.headers.get('strict-transport-security')).toBe('max-age=31536000')
    }

    expect(await suiteOf(service.url, '-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-SHA')).toBe('none')
    const shown = await certificateOf(service.url, first)
    const kept = await workersOf(service.pid)
    await copyFile(second.key, settings.TLS_KEY_FILE)
    process.kill(service.pid, 'SIGHUP')
    const refusals = () => service.output().match(/The previous certificate stays in use: [^"]*/g)
    await expect
      .poll(refusals)
      .toEqual([
        'The previous certificate stays in use: TLS_CERT_FILE and TLS_KEY_FILE must be a certificate and its key, as PEM',
      ])
    // A worker that is restarted in the meantime still uses the previous pair.
    process.kill(kept[0] as number, 'SIGKILL')
    await expect.poll(async () => (await workersOf(service.pid)).includes(kept[0] as number)).toBe(false)
    await expect.poll(() => certificateOf(service.url, first).catch(String)).toBe(shown)

    await copyFile(second.certificate, settings.TLS_CERT_FILE)
    const answers: string[] = []
    let isOver = false
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver)
        answers.push(
          await fetch(`${service.url}/v1/me`, {
            headers: { 'x-api-key': key },
            tls: { rejectUnauthorized: false },
          }).then(
            async (response) => (await response.text()) && String(response.status),
            (error) => String(error),
          ),
        )
    })
    await roll()
    isOver = true
    await Promise.all(clients)
    expect(new Set(answers)).toEqual(new Set(['200']))
    await expect(certificateOf(service.url, first)).rejects.toThrow()
    expect(await certificateOf(service.url, second)).not.toBe(shown)

    const metrics = await ask('/metrics', second.authority, { authorization })
    const expiry = seriesOf(await metrics.text()).get('tls_certificate_expiry_timestamp_seconds')
    expect((expiry ?? 0) - Date.now() / 1000).toBeGreaterThan(80_000)
    expect(expiry).toBeLessThan(Date.now() / 1000 + 86_400)
    await service.stop()
    expect(service.output()).not.toContain('TypeError')
  },
)

test('a pair that is incomplete, unreadable or does not match is refused at start in one line without its path', async () => {
  const { TLS_CERT_FILE, TLS_KEY_FILE } = await settingsFor({ ...first, key: second.key })
  const empty = join(await newFolder(), 'empty')
  await writeFile(empty, '')
  const expired = await settingsFor(await makeCertificates(await newFolder(), 0))
  const mismatch = 'TLS_CERT_FILE and TLS_KEY_FILE must be a certificate and its key, as PEM'
  const tries: [Record<string, string>, string][] = [
    [{ TLS_CERT_FILE }, 'TLS_CERT_FILE and TLS_KEY_FILE must be set together'],
    [{ TLS_KEY_FILE }, 'TLS_CERT_FILE and TLS_KEY_FILE must be set together'],
    [{ TLS_CERT_FILE, TLS_KEY_FILE }, mismatch],
    [{ TLS_CERT_FILE: empty, TLS_KEY_FILE }, mismatch],
    [
      { TLS_CERT_FILE: '/nowhere/tls.crt', TLS_KEY_FILE },
      'TLS_CERT_FILE must be the path of a readable file',
    ],
    [expired, 'The certificate of TLS_CERT_FILE has expired'],
    [{ TLS_CERT_FILE, TLS_KEY_FILE: '/nowhere/tls.key' }, 'TLS_KEY_FILE must be the path of a readable file'],
  ]
  const ends = tries.map(async ([settings, line]) => {
    expect(await runService({ ...testEnvironment(), ...settings })).toEqual({ code: 2, lines: [line] })
  })
  await Promise.all(ends)
})
