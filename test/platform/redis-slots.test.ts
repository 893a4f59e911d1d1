import { afterAll, beforeAll, expect, test } from 'vitest'
import { RedisRateLimiter } from '../../src/platform/redis/rate-limiter.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

let redis: TestRedis
let limiter: RedisRateLimiter
let other: RedisRateLimiter
beforeAll(async () => {
  redis = await startRedis()
  ;[limiter, other] = await Promise.all([
    new RedisRateLimiter(redis.url, 'slots').open(),
    new RedisRateLimiter(redis.url, 'slots').open(),
  ])
})
afterAll(async () => {
  await Promise.all([limiter.close(), other.close()])
  await redis.stop()
})

const take = (of: RedisRateLimiter, name: string) => of.slots.take(name, 5, 35_000)
/** Requests eight slots concurrently and frees the granted slots; returns the number granted. */
async function given(of: RedisRateLimiter, name: string): Promise<number> {
  const slots = await Promise.all(Array.from({ length: 8 }, () => take(of, name)))
  for (const slot of slots) slot?.free()
  return slots.filter(Boolean).length
}

test('the slots of a name are limited over two processes, and a freed slot is available immediately', async () => {
  const counts = async () => {
    const name = crypto.randomUUID()
    const held = await Promise.all([limiter, limiter, other, other].map((of) => take(of, name)))
    const left = await given(limiter, name)
    for (const slot of held) slot?.free()
    return { left, leftLater: await given(other, name) }
  }
  // If Redis takes longer than 50 ms on a busy machine, a process decides alone and the poll tries another name.
  await expect.poll(counts).toEqual({ left: 1, leftLater: 5 })
})

test('a slot taken while Redis was frozen is freed once Redis resumes', async () => {
  process.kill(redis.pid, 'SIGSTOP')
  const slots = await Promise.all(Array.from({ length: 5 }, () => take(limiter, 'b')))
  process.kill(redis.pid, 'SIGCONT')
  for (const slot of slots) slot?.free()
  await expect.poll(() => given(other, 'b')).toBe(5)
})

test('a slot freed while Redis is frozen is available soon after its return, and a process never holds more than five', async () => {
  const held = await Promise.all(Array.from({ length: 5 }, () => take(limiter, 'c')))
  process.kill(redis.pid, 'SIGSTOP')
  await expect.poll(() => limiter.ready()).toBe(false)
  expect(await given(limiter, 'c')).toBe(0)
  for (const slot of held) slot?.free()
  process.kill(redis.pid, 'SIGCONT')
  await expect.poll(() => given(other, 'c')).toBe(5)
})

test('a slot is held for its own time, also if a slot for a shorter time was taken after it', async () => {
  const takeFor = (of: RedisRateLimiter, milliseconds: number) => of.slots.takePatiently('d', 2, milliseconds)
  expect(await takeFor(limiter, 60_000)).not.toBeNull()
  expect(await takeFor(other, 100)).not.toBeNull()
  await expect.poll(() => takeFor(limiter, 60_000)).not.toBeNull()
  expect(await takeFor(other, 60_000)).toBeNull()
})
