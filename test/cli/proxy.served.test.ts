import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { isLoopback } from '../../src/core/proxy.ts'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { commandLine, isServedFile } from '../support/command-line.ts'
import { wellFormedKey } from '../support/keys.ts'
import { partnerctl, root } from '../support/processes.ts'
import { startProxy } from '../support/proxy.ts'
import { startReceiver } from '../support/receiver.ts'

const service = await testApp()
const [server] = sharedServices()
const { port } = new URL(server.url)
const proxy = await startProxy()
afterAll(proxy.stop)

test.each(['127.0.0.1', 'localhost'])('a key goes to %s directly, whatever proxy is set', async (host) => {
  const { key } = await service.actor()
  const { code, stderr } = await partnerctl(['me', '--json'], {
    ...proxy.environment,
    NO_PROXY: 'partners.example.com',
    PARTNER_BASE_URL: `http://${host}:${port}`,
    PARTNER_API_KEY: key,
  })
  expect({ code, stderr, proxied: proxy.requests }).toEqual({ code: 0, stderr: '', proxied: [] })
})

test("a stored key and a report's public keys reach a service on this machine without a proxy", async () => {
  const { key } = await service.actor()
  const folder = await mkdtemp(join(tmpdir(), 'partner-proxy-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const environment = { ...proxy.environment, XDG_CONFIG_HOME: folder }
  const report = join(folder, 'report.jws')
  await writeFile(report, 'no report')
  const address = ['--base-url', server.url]
  const login = await partnerctl(['login', ...address], environment, key)
  const shown = await partnerctl(['key'], environment)
  const verified = await partnerctl(['certify', 'verify', report, ...address], environment)
  expect({ login: login.code, key: shown.code }).toEqual({ login: 0, key: 0 })
  expect(verified.stderr).toContain('The report is not genuine')
  expect(proxy.requests).toEqual([])
})

test('listen posts its hints to a program on this machine without a proxy', async (context) => {
  const actor = await service.actor()
  await seedBooking(actor)
  const receiver = startReceiver(context)
  const since = ['--since', '2000-01-01 00:00:00', '--events', 'booking.changed']
  const child = Bun.spawn([...commandLine, 'listen', '--forward-to', receiver.url, ...since], {
    cwd: root,
    env: {
      ...proxy.environment,
      PATH: process.env.PATH ?? '',
      PARTNER_BASE_URL: server.url,
      PARTNER_API_KEY: actor.key,
    },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  await expect
    .poll(() => ({ isReceived: receiver.received.length > 0, throughProxy: proxy.requests }), {
      timeout: 30_000,
    })
    .toEqual({ isReceived: true, throughProxy: [] })
})

test('a request to any other address uses the proxy, unless NO_PROXY names the address', async () => {
  const other = await startProxy()
  onTestFinished(async () => void other.stop())
  const environment = {
    ...other.environment,
    PARTNER_BASE_URL: 'http://partners.example.com',
    PARTNER_API_KEY: wellFormedKey,
  }
  const { code, stderr } = await partnerctl(['me'], environment)
  await partnerctl(['me'], { ...environment, NO_PROXY: 'partners.example.com' })
  // Node 20 knows no proxies.
  const [message, requests] = isServedFile
    ? ['Cannot reach http://partners.example.com/v1: ', []]
    : ['http://partners.example.com/v1 responded 502\n', ['GET http://partners.example.com/v1/me HTTP/1.1']]
  expect({ code, stderr, requests: other.requests }).toEqual({
    code: 1,
    stderr: expect.stringContaining(message),
    requests,
  })
})

test('loopback is 127.0.0.0/8, ::1, localhost and the names below it', () => {
  const hosts = [
    '127.0.0.1',
    '127.255.0.9',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'api.localhost',
    'LOCALHOST.',
  ]
  const others = [
    '128.0.0.1',
    '10.0.0.1',
    '[::2]',
    '[::]',
    'notlocalhost',
    'localhost.example.com',
    '127.0.0.1.nip.io',
  ]
  expect({ loopback: hosts.filter(isLoopback), others: others.filter(isLoopback) }).toEqual({
    loopback: hosts,
    others: [],
  })
})
