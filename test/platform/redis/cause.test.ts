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
const [tlsPort, silentPort] = [await freePort(), await freePort()]
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
  [
    'no server at the address',
    `redis://:a-wrong-secret@127.0.0.1:${silentPort}`,
    'Redis refuses the connection',
  ],
])(
  'a service with %s for Redis is degraded and logs the cause once, without any secret',
  async (_, REDIS_URL, why) => {
    const service = await startService({ ...testEnvironment(), LOG_LEVEL: 'info', REDIS_URL })
    // Long enough for several retries.
    await Bun.sleep(2500)
    const { body } = await sender(fetch, service.url)('GET', '/readyz')
    expect(body).toEqual({ status: 'degraded', failing: ['throttle_store'] })
    await service.end('SIGKILL')
    const lines = service.output().split('\n')
    expect(lines.filter((line) => line.includes('rate limits are counted per process'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes(why))).toHaveLength(1)
    for (const secret of ['a-wrong-secret', 'its-password', password])
      expect(service.output()).not.toContain(secret)
  },
)
