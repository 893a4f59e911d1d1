import { expect, test, vi } from 'vitest'
import { postInTurn } from '../../../src/changes/webhooks/send/attempt.ts'
import { requireTurn, takeTurns } from '../../../src/changes/webhooks/send/turns.ts'
import { freshTurn, type Turn } from '../../../src/platform/outgoing/turns.ts'
import { MemoryRateLimiter } from '../../../src/platform/rate-limiter.ts'
import { RedisRateLimiter } from '../../../src/platform/redis/rate-limiter.ts'
import { type Actor, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startRedis } from '../../support/redis.ts'

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
  vi.advanceTimersByTime(10_000)
  const connecting = await free()
  for (const turn of turns) turn.sent()
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
    connecting,
    posting,
    inSecondAfter,
    afterSecond,
    withoutResponse,
    ended: await free(),
  }).toEqual({
    inTransaction: 0,
    connecting: 0,
    posting: 0,
    inSecondAfter: 0,
    afterSecond: 1,
    withoutResponse: 10,
    ended: 10,
  })
  await app.rateLimiter.close()
})

test('a turn that was taken four seconds ago is exchanged before its post, because it may count as lost by the end', async ({
  onTestFinished,
}) => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const app = sandbox()
  const url = 'https://hooks.example.com/'
  const [turn] = (await takeTurns(app, url, 10)) as [Turn, ...Turn[]]
  const takeAnother = async () => (await takeTurns(app, url, 1))[0] as Turn
  vi.advanceTimersByTime(3900)
  const early = await freshTurn(turn, takeAnother)
  vi.advanceTimersByTime(100)
  const late = await freshTurn(turn, takeAnother)
  expect({ early: early === turn, late: late === turn, isFresh: late.isFresh() }).toEqual({
    early: true,
    late: false,
    isFresh: true,
  })
  late.begin()
  late.end()
  const old = await freshTurn(late, async () => turn)
  expect(old, 'a turn that has been used').toBe(turn)
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

test.concurrent('while Redis is late, two processes together get ten turns; once it counts as down, each process counts alone', async ({
  expect,
  onTestFinished,
}) => {
  const redis = await startRedis()
  const open = () => new RedisRateLimiter(redis.url, 'turns').open()
  const limiters = await Promise.all([open(), open()])
  onTestFinished(async () => {
    await Promise.all(limiters.map((limiter) => limiter.close()))
    await redis.stop()
  })
  const count = async (rateLimiter: RedisRateLimiter, url: string) =>
    (await takeTurns({ rateLimiter, environment: { name: 'sandbox' } }, url, 10)).length
  process.kill(redis.pid, 'SIGSTOP')
  setTimeout(() => process.kill(redis.pid, 'SIGCONT'), 250)
  const counts = await Promise.all(limiters.map((one) => count(one, 'https://late.example.com/')))
  expect(counts.reduce((sum, one) => sum + one)).toBe(10)
  process.kill(redis.pid, 'SIGSTOP')
  await Promise.all(
    limiters.map((one) =>
      expect.poll(() => count(one, `https://${crypto.randomUUID()}.example.com/`)).toBe(10),
    ),
  )
  process.kill(redis.pid, 'SIGCONT')
})

test.concurrent('a post whose name is looked up for longer than five seconds still has its turn when it is sent', async (context) => {
  const { expect } = context
  const app = sandbox()
  const times: number[] = []
  const { url } = startReceiver(context, () => {
    times.push(performance.now())
    return new Response()
  })
  const named = new URL(url)
  named.hostname = 'hooks.example.com'
  const post = (turn: Turn, milliseconds: number) =>
    postInTurn(turn, {
      url: named,
      headers: {},
      body: '{}',
      allowsPrivate: true,
      lookup: () => Bun.sleep(milliseconds).then(() => ['127.0.0.1']),
    })
  const slow = (await takeTurns(app, named.href, 10)).map((turn) => post(turn, 6500))
  await Bun.sleep(6200)
  const quick = (await takeTurns(app, named.href, 10)).map((turn) => post(turn, 0))
  await Promise.all([...slow, ...quick])
  const inSecondFrom = times.map((from) => times.filter((at) => at >= from && at < from + 1000).length)
  expect(Math.max(...inSecondFrom)).toBe(10)
  await app.rateLimiter.close()
})
