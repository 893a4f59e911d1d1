import { expect, test, vi } from 'vitest'
import { requireTurn, type Turn, takeTurns } from '../../../src/changes/webhooks/send/limits.ts'
import { MemoryRateLimiter } from '../../../src/platform/rate-limiter.ts'
import { type Actor, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startReceiver } from '../../support/receiver.ts'

const settings = { MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' }
const [service, otherProcess] = await Promise.all([testApp(settings), testApp(settings)])

const sandbox = () => ({ rateLimiter: new MemoryRateLimiter(), environment: { name: 'sandbox' } as const })

test.concurrent('all sandboxes of all processes together get ten turns at one origin, and live webhooks any number', async () => {
  const origin = `https://${crypto.randomUUID()}.example.com`
  const take = async (url: string, wanted: number, by = service) =>
    (await takeTurns(by.sandbox, url, wanted)).length
  expect({
    first: await take(`${origin}/one`, 7),
    second: await take(`${origin}:443/two?of=another`, 7, otherProcess),
    otherPort: await take(`${origin}:8443/`, 10),
    live: (await takeTurns(service.live, `${origin}/`, 1000)).length,
  }).toEqual({ first: 7, second: 3, otherPort: 10, live: 1000 })
})

test('a turn is held however slow the transaction before its post is, and until a second after the post', async ({
  onTestFinished,
}) => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const app = sandbox()
  const url = 'https://hooks.example.com/'
  const free = async () => {
    const turns = await takeTurns(app, url, 20)
    for (const turn of turns) turn.giveBack()
    return turns.length
  }
  const turns = await takeTurns(app, url, 20)
  vi.advanceTimersByTime(60_000)
  const inTransaction = await free()
  for (const turn of turns) turn.begin()
  vi.advanceTimersByTime(2000)
  const posting = await free()
  const [first, ...others] = turns as [Turn, ...Turn[]]
  first.end()
  vi.advanceTimersByTime(1000)
  const inSecondAfter = await free()
  vi.advanceTimersByTime(20)
  const afterSecond = await free()
  // A receiver that does not respond within five seconds does not hold up the others for longer.
  vi.advanceTimersByTime(3000)
  const withoutResponse = await free()
  for (const turn of others) turn.end()
  expect({
    inTransaction,
    posting,
    inSecondAfter,
    afterSecond,
    withoutResponse,
    ended: await free(),
  }).toEqual({
    inTransaction: 0,
    posting: 0,
    inSecondAfter: 0,
    afterSecond: 1,
    withoutResponse: 10,
    ended: 10,
  })
  await app.rateLimiter.close()
})

test.concurrent('a single attempt that gets no turn within five seconds is refused with a retry time', async () => {
  const app = sandbox()
  const url = 'https://hooks.example.com/'
  await takeTurns(app, url, 10)
  await expect(requireTurn(app, { id: 1, url })).rejects.toMatchObject({
    kind: 'conflict',
    retryAfterSeconds: 1,
  })
  await app.rateLimiter.close()
})

test.concurrent('tests and resends of a live webhook have their own limit of twenty a second', async () => {
  const app = { rateLimiter: new MemoryRateLimiter(() => 0), environment: { name: 'live' } as const }
  const url = 'https://hooks.example.com/'
  for (let count = 0; count < 20; count += 1) await requireTurn(app, { id: 1, url })
  await expect(requireTurn(app, { id: 1, url })).rejects.toMatchObject({
    kind: 'conflict',
    retryAfterSeconds: 1,
  })
  await requireTurn(app, { id: 2, url })
  await app.rateLimiter.close()
})

test.concurrent('hints of two sandboxes beyond their turns are sent later, none is lost, and no second has more than ten', async (context) => {
  const { expect } = context
  const times: number[] = []
  const { url, received } = startReceiver(context, () => {
    times.push(performance.now())
    return new Response()
  })
  const one = await service.actor()
  const other = await service.actor()
  for (const actor of [one, other]) {
    const webhook = { url, events: ['message.created'] }
    expect((await actor.send('POST', '/sandbox/webhooks', { body: webhook })).status).toBe(201)
  }
  const write = (actor: Actor) =>
    actor.send('POST', '/sandbox/scenarios/guest-writes', { body: { count: 15 } })
  await Promise.all([write(one), write(other)])
  const ids = () => new Set(received.map(({ headers }) => headers['webhook-id']))
  await expect.poll(() => ids().size).toBe(30)
  const inSecondFrom = times.map((from) => times.filter((at) => at >= from && at < from + 1000).length)
  expect(Math.max(...inSecondFrom)).toBeLessThanOrEqual(10)
})
