import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { revokeKey } from '../../../src/access/keys/store.ts'
import { partnerctlHere } from '../../support/admin.ts'
import { type Actor, testApp, testEnvironment } from '../../support/app.ts'
import { createDatabase, mongodbUrlOf } from '../../support/databases.ts'
import { startMongoRelay } from '../../support/mongo-relay.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { startReplicaSet } from '../../support/replica-set.ts'
import { soakFactor } from '../../support/soak.ts'
import { killStreams } from '../../support/streams.ts'

/** Longest time for which a revoked key may be accepted (decisions §3). */
const promisedMilliseconds = 5000
/** Usual time, which other work on the machine may exceed now and then, but not each time. */
const usualMilliseconds = 1500

const rounds = 2 * soakFactor

interface Acceptance {
  /** Time from the revocation to the start of the last accepted request, in milliseconds; negative if it came before. */
  afterMilliseconds: number
  /** Statuses of the requests other than 200 and 401. */
  others: number[]
}

/** Uses a key without a pause while it is revoked, until 20 requests in a row have been refused. */
async function acceptedAfter(
  { url }: ServiceProcess,
  { key }: Actor,
  revoke: () => Promise<unknown>,
): Promise<Acceptance> {
  let lastAccepted = Number.NEGATIVE_INFINITY
  let refused = 0
  const others: number[] = []
  const use = async () => {
    while (refused < 20) {
      const startedAt = performance.now()
      const response = await fetch(`${url}/v1/me`, { headers: { 'x-api-key': key } })
      await response.text()
      if (response.status === 200) {
        lastAccepted = startedAt
        refused = 0
      } else if (response.status === 401) refused += 1
      else others.push(response.status)
    }
  }
  const using = use()
  // The stream is opened by the first request, and is heard within two seconds.
  await Bun.sleep(3000)
  await revoke()
  const revokedAt = performance.now()
  await using
  return { afterMilliseconds: lastAccepted - revokedAt, others }
}

describe('on one server', async () => {
  const name = `revoked_${process.pid}`
  await createDatabase(name)
  const url = mongodbUrlOf(name)
  const relay = await startMongoRelay(url)
  afterAll(() => relay.stop())
  const observer = await testApp({ MONGODB_URL: url, REDIS_URL: '' })
  const { db, clock } = observer.live
  const byCommand = async ({ keyId }: Actor) => {
    const environment = { MONGODB_URL: url, REDIS_URL: '' }
    const { code, stderr } = await partnerctlHere(['keys', 'revoke', `${keyId}`, '--yes'], environment)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  }
  /** As a command does that was started by the release before, or killed before it announced the change. */
  const unannounced = ({ keyId }: Actor) => revokeKey(db, clock, String(keyId))

  test.each<[string, number, (actor: Actor) => Promise<unknown>]>([
    ['by the command', usualMilliseconds, byCommand],
    [
      'by the command just after the stream was killed',
      usualMilliseconds,
      async (actor) => {
        // For a moment after each answer, no stream waits.
        await expect.poll(() => killStreams(db), { interval: 1 }).toBeGreaterThan(0)
        await byCommand(actor)
      },
    ],
    ['without an announcement', promisedMilliseconds, unannounced],
    [
      'by the command while the stream hangs',
      promisedMilliseconds,
      async (actor) => {
        expect(relay.silenceStreams()).toBeGreaterThan(0)
        await byCommand(actor)
      },
    ],
    [
      'without an announcement while the stream hangs',
      promisedMilliseconds,
      async (actor) => {
        expect(relay.silenceStreams()).toBeGreaterThan(0)
        await unannounced(actor)
      },
    ],
  ])('a key that is revoked %s is accepted for at most %i ms (%#)', async (_, limit, revoke) => {
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const service = await startService(testEnvironment({ MONGODB_URL: relay.url, REDIS_URL: '' }))
      const actor = await observer.actor()
      const { afterMilliseconds, others } = await acceptedAfter(service, actor, () => revoke(actor))
      await service.stop()
      expect(others).toEqual([])
      times.push(afterMilliseconds)
    }
    expect(Math.max(...times)).toBeLessThan(promisedMilliseconds)
    expect(Math.min(...times)).toBeLessThan(limit)
  })

  test('workers of one service all refuse a key that is revoked by the command', async () => {
    const environment = { MONGODB_URL: url, REDIS_URL: '', WORKERS: '2' }
    const service = await startService(testEnvironment(environment))
    onTestFinished(() => void service.end('SIGTERM'))
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const actor = await observer.actor()
      const { afterMilliseconds } = await acceptedAfter(service, actor, () => byCommand(actor))
      times.push(afterMilliseconds)
    }
    expect(Math.max(...times)).toBeLessThan(promisedMilliseconds)
    expect(Math.min(...times)).toBeLessThan(usualMilliseconds)
  })
})

test(`a key that is revoked while the primary steps down is accepted for at most 5 s (${rounds} ×)`, async () => {
  const replicas = await startReplicaSet()
  onTestFinished(() => replicas.stop())
  const environment = { MONGODB_URL: replicas.url, REDIS_URL: '', LOG_LEVEL: 'silent' }
  const observer = await testApp(environment)
  const service = await startService(testEnvironment(environment))
  onTestFinished(() => service.stop())
  const { db, clock } = observer.live
  for (let round = 0; round < rounds; round += 1) {
    const actor = await observer.actor()
    const { afterMilliseconds } = await acceptedAfter(service, actor, async () => {
      void replicas.stepDown()
      await Bun.sleep(round * 100)
      await repeat(() => revokeKey(db, clock, String(actor.keyId)))
    })
    expect(afterMilliseconds).toBeLessThan(promisedMilliseconds)
    await Bun.sleep(3000)
  }
})

/** Repeats a write until a primary takes it. */
async function repeat(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const done = await write().then(
      () => true,
      () => false,
    )
    if (done) return
    await Bun.sleep(20)
  }
}
