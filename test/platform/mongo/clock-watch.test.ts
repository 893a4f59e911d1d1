import { Redis } from 'ioredis'
import { expect, inject, test } from 'vitest'
import { readHostClock } from '../../../src/host-clock/store.ts'
import { MemoryRateLimiter } from '../../../src/platform/rate-limiter.ts'
import { testApp } from '../../support/app.ts'
import { validBodies } from '../../support/valid-bodies.ts'

let stepMilliseconds = 0
const wall = () => Date.now() + stepMilliseconds
const service = await testApp({ LOG_LEVEL: 'silent' }, () => new Date(wall()), wall)
const hour = 3_600_000

test.each([hour, -hour])(
  'a clock that steps by %i ms in the middle writes nothing, is not ready, and recovers',
  async (step) => {
    const actor = await service.actor()
    const bodies = await validBodies(actor)
    const before = await readHostClock(service.live.db, actor.hostId)
    stepMilliseconds = step
    try {
      for (const [name, { path, body }] of Object.entries(bodies)) {
        const {
          status,
          body: answer,
          headers,
        } = await actor.send(name.split(' ')[0] as string, path, { body: body() })
        expect([name, status, answer.error.type, headers.get('retry-after')]).toEqual([
          name,
          500,
          'internal_error',
          '5',
        ])
      }
      expect((await actor.send('POST', '/sandbox/bookings/5002/confirm')).status).toBe(500)
      const ready = await service.send('GET', '/readyz')
      expect([ready.status, ready.body.failing]).toEqual([503, ['clock']])
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

test('a clock that is less than a minute off is let be', async () => {
  const actor = await service.actor()
  stepMilliseconds = 50_000
  try {
    expect((await actor.send('POST', '/v1/listings', { body: { name: 'Nearly' } })).status).toBe(201)
  } finally {
    stepMilliseconds = 0
  }
})

test('a process that starts with a wrong clock is not ready', async () => {
  const wrong = await testApp({ LOG_LEVEL: 'silent' }, undefined, () => Date.now() + hour)
  expect((await wrong.send('GET', '/readyz')).body.failing).toEqual(['clock'])
})

test('hits that lie in the future, after the clock of Redis was set back, are forgotten', async () => {
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

test('windows in the process do not know of steps of the wall clock', async () => {
  const windows = new MemoryRateLimiter()
  const before = Date.now
  try {
    expect((await windows.hit('w', 1, 60_000)).allowed).toBe(true)
    Date.now = () => before() + hour
    expect((await windows.hit('w', 1, 60_000)).allowed).toBe(false)
    Date.now = () => before() - hour
    expect((await windows.hit('w', 1, 60_000)).waitMilliseconds).toBeLessThanOrEqual(60_000)
  } finally {
    Date.now = before
    await windows.close()
  }
})
