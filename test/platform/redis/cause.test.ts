import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { freePort } from '../../../src/platform/free-port.ts'
import { sender, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { startRedis } from '../../support/redis.ts'

const password = 'the-right-password'
const folder = await mkdtemp(join(tmpdir(), 'partner-redis-'))
const tlsPort = await freePort()
const key = join(folder, 'key.pem')
const certificate = join(folder, 'certificate.pem')
await Bun.$`openssl req -x509 -newkey rsa:2048 -nodes -keyout ${key} -out ${certificate} -days 1 -subj /CN=localhost`.quiet()
const redis = await startRedis(undefined, [
  ...['--requirepass', password, '--tls-port', String(tlsPort), '--tls-auth-clients', 'no'],
  ...['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate],
])
const port = new URL(redis.url).port
const admin = new Redis(redis.url, { password })
await admin.call('ACL', 'SETUSER', 'limited', 'on', '>its-password', '~*', '+ping', '+info')
afterAll(async () => {
  admin.disconnect()
  await redis.stop()
  await rm(folder, { recursive: true, force: true })
})

test.concurrent.each([
  ['a wrong password', `redis://:a-wrong-secret@127.0.0.1:${port}`, 'Redis refuses the password'],
  ['no password', `redis://127.0.0.1:${port}`, 'Redis requires a password'],
  ['an unknown account', `redis://somebody:a-wrong-secret@127.0.0.1:${port}`, 'Redis refuses the password'],
  [
    'an account that may not write',
    `redis://limited:its-password@127.0.0.1:${port}`,
    'Redis does not grant this account',
  ],
  [
    'a certificate of unknown origin',
    `rediss://:${password}@127.0.0.1:${tlsPort}`,
    'The certificate of Redis is not trusted',
  ],
])(
  'a service with %s for Redis does not start and says why in one line, without any secret',
  async (_, REDIS_URL, why) => {
    const started = startService({ ...testEnvironment(), LOG_LEVEL: 'info', REDIS_URL })
    const { message } = (await started.then(
      (service) => service.stop().then(() => new Error('It started')),
      (error) => error,
    )) as Error
    expect(message).toMatch(
      new RegExp(`^The service did not start \\(exit code 1\\):\nCannot start: ${why}[^\n]*\n$`),
    )
    for (const secret of ['a-wrong-secret', 'its-password', password]) expect(message).not.toContain(secret)
  },
)

/** Waits until the service says this of itself. */
const untilStatus = (url: string, status: string) =>
  expect
    .poll(async () => (await sender(fetch, url)('GET', '/readyz')).body.status, { timeout: 10_000 })
    .toBe(status)

test('a service whose Redis is away, and then refuses its password, is degraded and logs each cause once', async () => {
  const later = await freePort()
  const REDIS_URL = `redis://:a-wrong-secret@127.0.0.1:${later}`
  const service = await startService({ ...testEnvironment(), LOG_LEVEL: 'info', REDIS_URL })
  // Long enough for several attempts.
  await Bun.sleep(1500)
  const guarded = await startRedis(later, ['--requirepass', password])
  await expect.poll(() => service.output()).toContain('refuses the password')
  await Bun.sleep(1000)
  await untilStatus(service.url, 'degraded')
  await service.end('SIGKILL')
  await guarded.stop()
  const lines = service.output().split('\n')
  expect(lines.filter((line) => line.includes('rate limits are counted per process'))).toHaveLength(2)
  for (const why of ['Nothing listens at the address of Redis', 'Redis refuses the password'])
    expect(lines.filter((line) => line.includes(why))).toHaveLength(1)
  expect(service.output()).not.toContain('a-wrong-secret')
})
