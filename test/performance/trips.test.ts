import { expect, inject, test } from 'vitest'
import { type TestApp, type TestResponse, testApp } from '../support/app.ts'
import { onScopeEnd, ownDatabase } from '../support/databases.ts'
import { startDelayingProxy } from '../support/delaying-proxy.ts'
import { LockStep, type Steps } from '../support/lock-step.ts'
import { budgets, prepareTrips, type TripName, trips } from '../support/trips.ts'

/** The service gives up an answer of Redis after 50 ms, and then does without it. */
const longestHoldOfRedis = 40
const warmUps = 3
const repetitions = 2
const mostAttempts = 100

type Sent = Steps<TestResponse>

/** A service behind proxies, in which requests proceed in steps. */
interface Stepped {
  lockStep: LockStep
  service: TestApp
}

const url = await ownDatabase()

async function openStepped(hasRedis: boolean): Promise<Stepped> {
  const lockStep = new LockStep()
  const mongodb = await startDelayingProxy(url, lockStep.mongodb)
  const redis = await startDelayingProxy(inject('redisUrl'), lockStep.redis)
  // Before the service, because what was opened last is closed first, and the service waits for its servers to close.
  onScopeEnd(async () => {
    mongodb.stop()
    redis.stop()
  })
  // Each step of a request waits for a busy machine.
  const noTimeouts = { noTimeouts: true }
  const urls = { MONGODB_URL: mongodb.url, REDIS_URL: hasRedis ? redis.url : '' }
  const service = await testApp(urls, undefined, noTimeouts)
  lockStep.listenTo(service.live.db)
  return { lockStep, service }
}

const withRedis = await openStepped(true)
const alone = await openStepped(false)

interface Cost {
  sequence: number
  commands: number
}

/**
 * Returns the fewest steps and the fewest commands of a request, and how the request with the fewest steps went. A pause
 * of the machine only ever adds to them, so a request that took more than expected is sent again.
 */
async function measure({ lockStep, service }: Stepped, name: TripName, { expected, mayCount }: Counting) {
  const actor = await service.actor()
  const { [name]: send } = await prepareTrips(actor)
  // The first requests fetch blocks of ids and fill caches.
  for (let count = 0; count < warmUps; count += 1) await send()
  const counted: Sent[] = []
  const cost: Cost = { sequence: Number.POSITIVE_INFINITY, commands: Number.POSITIVE_INFINITY }
  const isEnough = () =>
    counted.length >= repetitions && cost.sequence <= expected.sequence && cost.commands <= expected.commands
  for (let attempt = 0; attempt < mostAttempts && !isEnough(); attempt += 1) {
    const sent = await lockStep.run(send)
    expect(sent.result.status, sent.result.text).toBeLessThan(300)
    if (!mayCount(sent)) continue
    counted.push(sent)
    cost.sequence = Math.min(cost.sequence, sent.steps.length)
    cost.commands = Math.min(cost.commands, sent.commands)
  }
  const [fewest] = counted.toSorted((a, b) => a.steps.length - b.steps.length)
  if (!fewest) throw new Error(`Redis was late for each of ${mostAttempts} requests`)
  return { cost, steps: fewest.steps.map((names) => names.join(', ')).join('\n') }
}

interface Counting {
  expected: Cost
  mayCount: (sent: Sent) => boolean
}

/** Returns false if the service did without Redis, for a moment or since an earlier request. */
function usedRedis({ steps, longestHoldOfRedis: held }: Sent): boolean {
  return steps[0]?.includes('evalsha') === true && held < longestHoldOfRedis
}

const requests = Object.entries(trips).map(([id, { name }]) => [name, id as TripName] as const)

test.each(requests)('%s takes the round trips and commands of its budget', async (_, id) => {
  const { sequence, commands } = budgets[id]
  const expected = { sequence: sequence[0], commands: commands[0] }
  const { cost, steps } = await measure(withRedis, id, { expected, mayCount: usedRedis })
  expect(cost, steps).toEqual(expected)
})

test.each(requests)('%s takes the round trips and commands of its budget without Redis', async (_, id) => {
  const { sequence, commands } = budgets[id]
  const expected = { sequence: sequence[1], commands: commands[1] }
  const { cost, steps } = await measure(alone, id, { expected, mayCount: () => true })
  expect(cost, steps).toEqual(expected)
})
