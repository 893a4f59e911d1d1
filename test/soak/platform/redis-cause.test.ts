import { expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { sender, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { startRedis } from '../../support/redis.ts'

const password = 'its-password'

/** Waits until the service reports the given status. */
const untilStatus = (url: string, status: string) =>
  expect.poll(async () => (await sender(fetch, url)('GET', '/readyz')).body.status).toBe(status)

test('a service whose Redis is down, and then refuses its password, is degraded and logs each cause once', async () => {
  const later = await freePort()
  const REDIS_URL = `redis://:a-wrong-secret@127.0.0.1:${later}`
  const service = await startService({ ...testEnvironment(), LOG_LEVEL: 'info', REDIS_URL })
  // Leaves time for several connection attempts.
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
