import { Redis } from 'ioredis'
import { expect, inject, test } from 'vitest'
import { readHostClock } from '../../../src/host-clock/store.ts'
import { ClockWatch } from '../../../src/platform/mongo/clock-watch.ts'
import { MemoryRateLimiter } from '../../../src/platform/rate-limiter.ts'
import { testApp } from '../../support/app.ts'
import { validBodies } from '../../support/valid-bodies.ts'

let stepMilliseconds = 0
const wall = () => Date.now() + stepMilliseconds
const service = await testApp({ LOG_LEVEL: 'silent' }, () => new Date(wall()), { wall })
const hour = 3_600_000

test.each([hour, -hour])(
  'a service whose clock steps by %i ms writes nothing, is not ready, and recovers',
  async (step) => {
    const actor = await service.actor()
    const bodies = await validBodies(actor)
    const before = await readHostClock(service.live.db, actor.hostId)
    stepMilliseconds = step
    try {
      const outcomes: object[] = []
      for (const [name, { path, body }] of Object.entries(bodies)) {
        const response = await actor.send(name.split(' ')[0] as string, path, { body: body() })
        outcomes.push({
          name,
          status: response.status,
          type: response.body.error?.type,
          retryAfter: response.headers.get('retry-after'),
        })
      }
      const refused = { status: 500, type: 'internal_error', retryAfter: '5' }
      expect(outcomes).toEqual(Object.keys(bodies).map((name) => ({ name, ...refused })))
      expect((await actor.send('POST', '/sandbox/bookings/5002/confirm')).status).toBe(500)
      const ready = await service.send('GET', '/readyz')
      expect({ status: ready.status, failing: ready.body.failing }).toEqual({
        status: 503,
        failing: ['clock'],
      })
      expect((await actor.send('GET', '/v1/integrations/provider_one/bookings')).status).toBe(200)
    } finally {
      stepMilliseconds = 0
    }
    expect(await readHostClock(service.live.db, actor.hostId)).toEqual(before)
    expect((await service.send('GET', '/readyz')).status).toBe(200)
    const { path, body } = bodies['POST /v1/bookings'] as (typeof bodies)[string]
    expect((await actor.send('POST', path, { body: body() })).status).toBe(201)
  },
)

test('a service whose clock is less than a minute off writes as usual', async () => {
  const actor = await service.actor()
  stepMilliseconds = 50_000
  try {
    expect((await actor.send('POST', '/v1/listings', { body: { name: 'Nearly' } })).status).toBe(201)
  } finally {
    stepMilliseconds = 0
  }
})

test('a service that starts with a wrong clock is not ready', async () => {
  const wrong = await testApp({ LOG_LEVEL: 'silent' }, undefined, { wall: () => Date.now() + hour })
  expect((await wrong.send('GET', '/readyz')).body.failing).toEqual(['clock'])
})

test('a late response does not shift the clock, because it may have been dated at any time during the wait', async () => {
  const admin = service.live.db.getClient().db('admin')
  const command = async (asked: object) => {
    const response = await admin.command(asked)
    await Bun.sleep(400)
    return response
  }
  const late = { getClient: () => ({ db: () => ({ command }) }) }
  const watch = new ClockWatch(late, service.live.log, () => Date.now() + 20_000)
  const ahead = () => Math.abs(watch.databaseNow().getTime() - Date.now())
  const begun = performance.now()
  await watch.measure()
  // The clock may be off by as much as the response was late, which takes longer on a busy machine.
  expect(ahead()).toBeLessThanOrEqual(performance.now() - begun)
  const before = ahead()
  await watch.measure()
  expect(Math.abs(ahead() - before)).toBeLessThan(100)
  watch.close()
  const sound = new ClockWatch(late, service.live.log)
  await sound.measure()
  expect(Math.abs(sound.databaseNow().getTime() - Date.now())).toBeLessThan(100)
  sound.close()
})

test('the rate limiter forgets hits in the future after the clock of Redis was set back', async () => {
  const redis = new Redis(inject('redisUrl'))
  const actor = await service.actor({ rateLimit: 3 })
  const name = `${service.live.db.name}:window:key:${actor.keyId}`
  const inAnHour = (Date.now() + hour) * 1000
  await redis.rpush(name, inAnHour, inAnHour + 1, inAnHour + 2)
  const statuses: number[] = []
  for (let count = 0; count < 4; count += 1) statuses.push((await actor.send('GET', '/v1/me')).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  redis.disconnect()
})

test('MemoryRateLimiter ignores steps of the wall clock', async () => {
  const limiter = new MemoryRateLimiter()
  const before = Date.now
  try {
    expect((await limiter.hit('w', 1, 60_000)).allowed).toBe(true)
    Date.now = () => before() + hour
    expect((await limiter.hit('w', 1, 60_000)).allowed).toBe(false)
    Date.now = () => before() - hour
    expect((await limiter.hit('w', 1, 60_000)).waitMilliseconds).toBeLessThanOrEqual(60_000)
  } finally {
    Date.now = before
    await limiter.close()
  }
})
