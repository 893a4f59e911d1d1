import { expect, inject, test } from 'vitest'
import { type TestApp, type TestResponse, testApp } from '../support/app.ts'
import { onScopeEnd, ownDatabase } from '../support/databases.ts'
import { startDelayingProxy } from '../support/delaying-proxy.ts'
import { LockStep, type Steps } from '../support/lock-step.ts'
import { budgets, prepareTrips, type TripName, trips } from '../support/trips.ts'

/** The service gives up an answer of Redis after 50 ms, and then does without it. */
const longestHoldOfRedis = 40
const warmUps = 3
const repetitions = 4
const mostAttempts = 200

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
  // Each step of a request waits for a busy machine.
  const noTimeouts = { noTimeouts: true }
  const urls = { MONGODB_URL: mongodb.url, REDIS_URL: hasRedis ? redis.url : '' }
  const service = await testApp(urls, undefined, noTimeouts)
  lockStep.listenTo(service.live.db)
  onScopeEnd(async () => {
    mongodb.stop()
    redis.stop()
  })
  return { lockStep, service }
}

const withRedis = await openStepped(true)
const alone = await openStepped(false)

/** Returns the fewest steps and the fewest commands of a request, and how the request with the fewest steps went. */
async function measure({ lockStep, service }: Stepped, name: TripName, mayCount = (_: Sent) => true) {
  const actor = await service.actor()
  const { [name]: send } = await prepareTrips(actor)
  // The first requests fetch blocks of ids and fill caches.
  for (let count = 0; count < warmUps; count += 1) await send()
  const counted: Sent[] = []
  for (let attempt = 0; attempt < mostAttempts && counted.length < repetitions; attempt += 1) {
    const sent = await lockStep.run(send)
    expect(sent.result.status, sent.result.text).toBeLessThan(300)
    if (mayCount(sent)) counted.push(sent)
  }
  const [fewest] = counted.toSorted((a, b) => a.steps.length - b.steps.length)
  if (!fewest) throw new Error(`Redis was late for each of ${mostAttempts} requests`)
  return {
    cost: {
      sequence: fewest.steps.length,
      commands: Math.min(...counted.map(({ commands }) => commands)),
    },
    steps: fewest.steps.map((names) => names.join(', ')).join('\n'),
  }
}

/** Returns false if the service did without Redis, for a moment or since an earlier request. */
function usedRedis({ steps, longestHoldOfRedis: held }: Sent): boolean {
  return steps[0]?.includes('evalsha') === true && held < longestHoldOfRedis
}

const requests = Object.entries(trips).map(([id, { name }]) => [name, id as TripName] as const)

test.each(requests)('%s takes the round trips and commands of its budget', async (_, id) => {
  const { sequence, commands } = budgets[id]
  const { cost, steps } = await measure(withRedis, id, usedRedis)
  expect(cost, steps).toEqual({ sequence: sequence[0], commands: commands[0] })
})

test.each(requests)('%s takes the round trips and commands of its budget without Redis', async (_, id) => {
  const { sequence, commands } = budgets[id]
  const { cost, steps } = await measure(alone, id)
  expect(cost, steps).toEqual({ sequence: sequence[1], commands: commands[1] })
})
