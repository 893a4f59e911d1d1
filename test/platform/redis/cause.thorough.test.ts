import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { redisTlsOptions, startRedis } from '../../support/redis.ts'
import { isSoak } from '../../support/soak.ts'

const password = 'the-right-password'
const folder = await mkdtemp(join(tmpdir(), 'partner-redis-'))
const tlsPort = await freePort()
const key = join(folder, 'key.pem')
const certificate = join(folder, 'certificate.pem')
await Bun.$`openssl req -x509 -newkey rsa:2048 -nodes -keyout ${key} -out ${certificate} -days 1 -subj /CN=localhost`.quiet()
const redis = await startRedis(undefined, [
  '--requirepass',
  password,
  ...redisTlsOptions(tlsPort, { certificate, key, authority: certificate }),
])
const port = new URL(redis.url).port
const admin = new Redis(redis.url, { password })
await admin.call('ACL', 'SETUSER', 'limited', 'on', '>its-password', '~*', '+ping', '+info')
afterAll(async () => {
  admin.disconnect()
  await redis.stop()
  await rm(folder, { recursive: true, force: true })
})

const causes = [
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
] as const

/** The first cause; the soak tries all, because each is a start of the service. */
const tried = isSoak ? causes : causes.slice(0, 1)

test.concurrent.each(tried)(
  'a service with %s for Redis does not start and states the cause in one line, without any secret',
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
