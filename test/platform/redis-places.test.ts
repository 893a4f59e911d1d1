import { afterAll, beforeAll, expect, test } from 'vitest'
import { RedisRateLimiter } from '../../src/platform/redis/rate-limiter.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

let redis: TestRedis
let limiter: RedisRateLimiter
let other: RedisRateLimiter
beforeAll(async () => {
  redis = await startRedis()
  ;[limiter, other] = await Promise.all([
    new RedisRateLimiter(redis.url, 'places').open(),
    new RedisRateLimiter(redis.url, 'places').open(),
  ])
})
afterAll(async () => {
  await Promise.all([limiter.close(), other.close()])
  await redis.stop()
})

const take = (of: RedisRateLimiter, name: string) => of.places.take(name, 5, 35_000)
/** How many of eight are given at once, freed again. */
async function given(of: RedisRateLimiter, name: string): Promise<number> {
  const places = await Promise.all(Array.from({ length: 8 }, () => take(of, name)))
  for (const place of places) place?.free()
  return places.filter(Boolean).length
}

test('places of a name are limited over two processes, and free at once when they are freed', async () => {
  const held = await Promise.all([take(limiter, 'a'), take(limiter, 'a'), take(other, 'a'), take(other, 'a')])
  expect(await given(limiter, 'a')).toBe(1)
  for (const place of held) place?.free()
  expect(await given(other, 'a')).toBe(5)
})

test('a place taken while Redis stood still is not left behind when it goes on', async () => {
  process.kill(redis.pid, 'SIGSTOP')
  const places = await Promise.all(Array.from({ length: 5 }, () => take(limiter, 'b')))
  process.kill(redis.pid, 'SIGCONT')
  for (const place of places) place?.free()
  await expect.poll(() => given(other, 'b')).toBe(5)
})

test('a place freed while Redis is away is free soon after its return, and a process never holds more than five', async () => {
  const held = await Promise.all(Array.from({ length: 5 }, () => take(limiter, 'c')))
  process.kill(redis.pid, 'SIGSTOP')
  await expect.poll(() => limiter.ready()).toBe(false)
  expect(await given(limiter, 'c')).toBe(0)
  for (const place of held) place?.free()
  process.kill(redis.pid, 'SIGCONT')
  await expect.poll(() => given(other, 'c')).toBe(5)
})
