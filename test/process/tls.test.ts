import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/core/config.ts'
import { readKeyPair, tlsOptionsOf } from '../../src/process/certificate.ts'
import { testApp, testEnvironment } from '../support/app.ts'
import { runService } from '../support/processes.ts'
import { makePair, newFolder, settingsFor, suiteOf } from '../support/tls.ts'

test('TLS 1.2 is spoken only with the suites of the nginx configuration, which have forward secrecy', async () => {
  const folder = await newFolder()
  const cert = join(folder, 'rsa.pem')
  const key = join(folder, 'rsa.key')
  await Bun.$`openssl req -x509 -newkey rsa:2048 -nodes -keyout ${key} -out ${cert} -days 1 -subj /CN=127.0.0.1`.quiet()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: tlsOptionsOf(readKeyPair({ cert, key })),
    fetch: () => new Response(),
  })
  onTestFinished(() => server.stop(true))
  const url = `https://127.0.0.1:${server.port}`
  for (const suite of [
    'AES128-GCM-SHA256',
    'AES256-SHA',
    'ECDHE-RSA-AES128-SHA',
    'DHE-RSA-AES128-GCM-SHA256',
  ])
    expect({ suite, agreed: await suiteOf(url, '-tls1_2', '-cipher', suite) }).toEqual({
      suite,
      agreed: 'none',
    })
  const nginx = await readFile('deploy/nginx/nginx.conf', 'utf8')
  const [, suites = ''] = /ssl_ciphers (.+);/.exec(nginx) ?? []
  expect(tlsOptionsOf({ cert: '', key: '' }).ciphers).toBe(suites)
  for (const suite of suites.split(':').filter((name) => name.includes('-RSA-')))
    expect(await suiteOf(url, '-tls1_2', '-cipher', suite)).toBe(suite)
  expect(await suiteOf(url, '-tls1_3')).toMatch(/^TLS_/)
})

test('a service with TLS of its own is at an https address by default, and without TLS has no expiry', async () => {
  const settings = await settingsFor(await makePair())
  expect(readConfig({ ...settings, PORT: '8443' }).publicUrl).toBe('https://127.0.0.1:8443')
  const METRICS_TOKEN = 'a-token-of-the-operator'
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const { text } = await (await testApp({ METRICS_TOKEN })).send('GET', '/metrics', { headers })
  expect(text).not.toContain('tls_certificate_expiry')
})

test('a certificate and a key that do not match are refused at start in one line without their paths', async () => {
  const [one, other] = await Promise.all([makePair(), makePair()])
  const settings = await settingsFor({ ...one, key: other.key })
  expect(await runService({ ...testEnvironment(), ...settings })).toEqual({
    code: 2,
    lines: ['TLS_CERT_FILE and TLS_KEY_FILE must be a certificate and its key, as PEM'],
  })
})
