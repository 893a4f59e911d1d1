import { expect, test } from 'vitest'
import { MemoryRateLimiter } from '../../src/platform/rate-limiter.ts'
import { RedisRateLimiter } from '../../src/platform/redis/rate-limiter.ts'
import { testApp } from '../support/app.ts'
import { startRedis } from '../support/redis.ts'

const limit = 10

test('a rate limit keeps its hits when Redis goes away and when it returns', async () => {
  let redis = await startRedis()
  const service = await testApp({ REDIS_URL: redis.url, LOG_LEVEL: 'silent' })
  const statusIs = async (wanted: string) => {
    while ((await service.send('GET', '/readyz')).body.status !== wanted) await Bun.sleep(20)
  }
  const allowedOf = async (send: () => Promise<{ status: number }>) => {
    const statuses = await Promise.all(Array.from({ length: 2 * limit }, async () => (await send()).status))
    return statuses.filter((status) => status === 200).length
  }
  const before = await service.actor({ rateLimit: limit })
  const during = await service.actor({ rateLimit: limit })
  const partly = await service.actor({ rateLimit: limit })
  const port = Number(new URL(redis.url).port)

  expect(await allowedOf(() => before.send('GET', '/v1/me'))).toBe(limit)
  for (let count = 0; count < 4; count += 1) await partly.send('GET', '/v1/me')
  await redis.stop()
  await statusIs('degraded')
  expect(await allowedOf(() => before.send('GET', '/v1/me'))).toBe(0)
  expect(await allowedOf(() => during.send('GET', '/v1/me'))).toBe(limit)
  for (let count = 0; count < 3; count += 1) await partly.send('GET', '/v1/me')
  redis = await startRedis(port)
  await statusIs('ready')
  expect(await allowedOf(() => during.send('GET', '/v1/me'))).toBe(0)
  expect((await partly.send('GET', '/v1/me')).headers.get('ratelimit')).toContain('r=2')
  expect(await allowedOf(() => partly.send('GET', '/v1/me'))).toBe(2)
  await redis.stop()
})

test('MemoryRateLimiter enforces the limit in every sliding window, for up to 100,000 names', async () => {
  let now = 0
  const limiter = new MemoryRateLimiter(() => now)
  const allowed = async () => (await limiter.hit('a', 3, 100)).allowed
  expect([await allowed(), await allowed(), await allowed(), await allowed()]).toEqual([
    true,
    true,
    true,
    false,
  ])
  now = 99
  expect(await allowed()).toBe(false)
  now = 100
  expect(await allowed()).toBe(true)
  expect((await limiter.peek('a', 3, 100)).remaining).toBe(2)
  for (let name = 0; name < 100_500; name += 1) await limiter.hit(`address-${name}`, 3, 100)
  expect(limiter.size).toBe(100_000)
  // The most recently hit names are kept.
  expect((await limiter.hit('address-100499', 1, 100)).allowed).toBe(false)
  await limiter.close()
})

test('MemoryRateLimiter counts 300,000 hits of one name in time', async () => {
  const limiter = new MemoryRateLimiter()
  for (let hit = 0; hit < 300_000; hit += 1) await limiter.hit('busy', 1_000_000, 60_000)
  expect((await limiter.peek('busy', 1_000_000, 60_000)).remaining).toBe(700_000)
  await limiter.close()
})

test('a request whose hit timed out does not wait for the cache as well', async () => {
  const redis = await startRedis()
  const limiter = await new RedisRateLimiter(redis.url, 'silent').open()
  limiter.cache.set('name', 'value', 60_000)
  await expect.poll(() => limiter.cache.get('name')).toBe('value')
  process.kill(redis.pid, 'SIGSTOP')
  await limiter.hit('key', limit, 60_000)
  // Whatever takes no turn of the loop asks nobody.
  const turn = new Promise((resolve) => setImmediate(resolve, 'the cache has asked Redis'))
  expect(await Promise.race([limiter.cache.get('name'), turn])).toBeNull()
  await limiter.close()
  await redis.stop()
})

test('however often a Redis that hangs is looked at, its connection is given up once', async () => {
  const redis = await startRedis()
  const limiter = await new RedisRateLimiter(redis.url, 'hanging').open()
  const warnings: string[] = []
  const note = ({ name }: Error) => void warnings.push(name)
  process.on('warning', note)
  process.kill(redis.pid, 'SIGSTOP')
  // A hit that times out has it looked at.
  await limiter.hit('key', limit, 60_000)
  await expect.poll(() => limiter.ready(), { timeout: 20_000 }).toBe(false)
  for (let look = 0; look < 30; look += 1) expect(await limiter.ready()).toBe(false)
  process.kill(redis.pid, 'SIGCONT')
  await expect.poll(() => limiter.ready(), { timeout: 20_000 }).toBe(true)
  process.off('warning', note)
  expect(warnings).toEqual([])
  await limiter.close()
  await redis.stop()
})
