import { expect, test } from 'vitest'
import { listingModel } from '../../../src/inventory/listings/model.ts'
import { jobModel } from '../../../src/platform/outbox/outbox.ts'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { userModel } from '../../../src/stays/users/model.ts'
import { type Actor, seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startService } from '../../support/processes.ts'
import { controlOf, soakFactor } from '../../support/soak.ts'

const rounds = 5 * soakFactor

interface Sent {
  actor: Actor
  path: string
  key: string
  body: object
  isAcknowledged: boolean
}

test(`if a service is killed ${rounds} times during keyed creates, the retries have exactly one effect each`, async () => {
  const MONGODB_URL = await ownDatabase()
  // Nothing listens at the tag manager's address, so events stay in the outbox and can be counted.
  const environment = {
    ...testEnvironment(),
    MONGODB_URL,
    TAG_MANAGER_URL: 'http://127.0.0.1:9/',
    LOG_LEVEL: 'silent',
  }
  const observer = await testApp({ MONGODB_URL, LOG_LEVEL: 'silent' })
  await observer.live.outbox.stop()
  const { db } = observer.live
  const all: Sent[] = []

  for (let round = 0; round < rounds; round += 1) {
    const actor = await observer.actor()
    const { user_id, listing_id, room_type_id } = await seedBooking(actor)
    const unit = { user_id, listing_id, room_type_id }
    const burst: Sent[] = Array.from({ length: 12 }, (_, index) => {
      const requests: [string, object][] = [
        ['/v1/users', { email: `u${index}@example.com`, first_name: 'A', last_name: 'B' }],
        [
          '/v1/listings',
          { name: `L${index}`, original_id: `kill-${index}`, room_types: [{ id: 'a', name: 'R' }] },
        ],
        [
          '/v1/bookings',
          { ...unit, checkin_at: '2030-01-01', checkout_at: '2030-02-01', message: `m${index}` },
        ],
      ]
      const [path, body] = requests[index % 3] as [string, object]
      return { actor, path, key: `k${index}`, body, isAcknowledged: false }
    })
    const victim = await startService(environment)
    const send = sender(fetch, victim.url)
    await send('GET', '/v1/me', { key: actor.key })
    const requests = burst.map(async (request) => {
      const { status } = await send('POST', request.path, {
        key: actor.key,
        body: request.body,
        headers: { 'idempotency-key': request.key },
      })
      request.isAcknowledged = status === 201
    })
    const settled = Promise.allSettled(requests)
    // Some processes are killed before their first acknowledgement, others right after it.
    if (round % 2 === 1) await Promise.race([...requests, Bun.sleep(5000)])
    else await Bun.sleep(30 + Math.random() * 250)
    await victim.end('SIGKILL')
    await settled
    all.push(...burst)
  }

  const survivor = await startService(environment)
  const send = sender(fetch, survivor.url)
  const calm = await observer.actor()
  const control = await controlOf(() =>
    send('POST', '/v1/users', {
      key: calm.key,
      body: { email: `${crypto.randomUUID()}@example.com`, first_name: 'A', last_name: 'B' },
    }),
  )
  const retries: { path: string; status: number; isReplay: boolean; isAcknowledged: boolean }[] = []
  let slowest = 0
  for (const { actor, path, key, body, isAcknowledged } of all) {
    const start = performance.now()
    const { status, headers } = await send('POST', path, {
      key: actor.key,
      body,
      headers: { 'idempotency-key': key },
    })
    slowest = Math.max(slowest, performance.now() - start)
    const isReplay = headers.get('idempotent-replayed') === 'true'
    retries.push({ path, status, isReplay, isAcknowledged })
  }
  await survivor.stop()
  expect(retries.filter(({ status }) => status !== 201)).toEqual([])
  const acknowledged = retries.filter(({ isAcknowledged }) => isAcknowledged)
  expect(acknowledged.length).toBeGreaterThan(0)
  expect(acknowledged.filter(({ isReplay }) => !isReplay)).toEqual([])
  expect(retries.filter(({ isReplay }) => !isReplay).length).toBeGreaterThan(0)
  // The database aborts the killed process's open transactions within 10 s.
  expect(slowest).toBeLessThan(10_000 + 10 * control)

  const of = (hostId: number) => ({ owner_id: hostId })
  for (const { hostId } of new Set(all.map(({ actor }) => actor))) {
    expect(await userModel(db).countDocuments(of(hostId))).toBe(4 + 1)
    expect(await listingModel(db).countDocuments(of(hostId))).toBe(4 + 1)
    expect(await bookingModel(db).countDocuments(of(hostId))).toBe(4 + 1)
    const owner = all.find(({ actor }) => actor.hostId === hostId)?.actor
    const { body } = await observer.send('GET', '/v1/integrations/provider_one/bookings', {
      key: owner?.key as string,
    })
    expect(body.meta.pagination.total).toBe(4 + 1)
    const events = await jobModel(db).find({ topic: 'UserCreated', 'payload.host_id': hostId }).lean()
    expect(new Set(events.map(({ payload }) => payload.user_id)).size).toBe(4 + 1)
    expect(events).toHaveLength(4 + 1)
  }
})
