import { expect, test } from 'vitest'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { type Actor, seedBooking, type TestResponse, testApp } from '../../support/app.ts'
import { onScopeEnd, ownDatabase } from '../../support/databases.ts'

/**
 * The time at which the service's clock stands; undefined while it goes. It stands while there are no connections, because
 * a key that was read more than 5 s ago is read again, and a request whose key cannot be read is in no key's log.
 */
let stands: Date | undefined
/** A service whose operations wait only briefly for a connection. */
const url = await ownDatabase()
const service = await testApp({ MONGODB_URL: `${url}&waitQueueTimeoutMS=300` }, () => stands ?? new Date())
const { db } = service.live
const other = await openMongo(url)
onScopeEnd(() => other.close())
/** Number of connections in a pool. */
const poolSize = 50

/** Holds all of the service's connections to the database while `work` runs. */
async function withoutConnections<T>(work: () => Promise<T>): Promise<T> {
  const slow = db.collection(`slow_${crypto.randomUUID()}`)
  await slow.insertOne({})
  const comment = slow.collectionName
  // A single long sleep would not end when the operation is killed.
  const $where = 'for (let round = 0; round < 2000; round += 1) sleep(10); return true'
  let isOver = false
  // Whenever work in the background returns a connection, such as a change stream, a waiting operation takes it.
  const holdOne = async () => {
    while (!isOver)
      await slow
        .find({ $where }, { comment })
        .toArray()
        .catch(() => {})
  }
  const holding = Array.from({ length: poolSize + 10 }, holdOne)
  const failureOfProbe = () =>
    slow.findOne({}).then(
      () => null,
      (error: Error) => error.name,
    )
  try {
    await expect.poll(failureOfProbe).toBe('MongoWaitQueueTimeoutError')
    return await work()
  } finally {
    isOver = true
    // Operations that still wait for a connection begin only when others have been killed.
    const left = new Set(holding)
    for (const one of holding) void one.then(() => left.delete(one))
    while (left.size > 0) {
      await release(comment)
      await Bun.sleep(20)
    }
    await slow.drop()
  }
}

/** Ends the operations with this comment. */
async function release(comment: string): Promise<void> {
  const admin = other.getClient().db('admin')
  const filter = { 'command.comment': comment }
  const running = admin.aggregate([{ $currentOp: {} }, { $match: filter }], {
    readConcern: { level: 'local' },
  })
  for await (const { opid } of running) await admin.command({ killOp: 1, op: opid })
}

/** Returns functions that each send a request: reads, writes in a transaction of their own or a shared one, keyed. */
async function requestsOf(actor: Actor): Promise<Record<string, () => Promise<TestResponse>>> {
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const body = { user_id, listing_id, room_type_id, checkin_at: '2031-03-01', checkout_at: '2031-06-01' }
  const provider = '/v1/integrations/provider_one'
  return {
    list: () => actor.send('GET', '/v1/listings'),
    resource: () => actor.send('GET', `/v1/listings/${listing_id}`),
    feed: () => actor.send('GET', `${provider}/bookings`),
    update: () => actor.send('PATCH', `/v1/listings/${listing_id}`, { body: { name: 'New name' } }),
    booking: () => actor.send('POST', '/v1/bookings', { body }),
    keyed: () =>
      actor.send('POST', '/v1/bookings', { body, headers: { 'idempotency-key': crypto.randomUUID() } }),
    sandbox: () => actor.send('GET', '/sandbox/listings'),
  }
}

test('while all connections to the database are in use, requests get 409 with Retry-After and count as no error', async () => {
  const actor = await service.actor()
  const requests = await requestsOf(actor)
  const errors: unknown[] = []
  const { log } = service.live
  const logError = log.error.bind(log)
  log.error = (...line: unknown[]) => void errors.push(line)
  stands = new Date()
  expect((await actor.send('GET', '/v1/me')).status).toBe(200)
  const refused = await withoutConnections(async () => {
    const found: TestResponse[] = []
    for (const send of Object.values(requests)) {
      // Work in the background, such as a change stream, may return a connection just in time for a request.
      let response = await send()
      while (response.status < 400) response = await send()
      found.push(response)
    }
    return found
  })
  stands = undefined
  log.error = logError
  for (const { status, body, headers } of refused) {
    expect({ status, error: body.error, retryAfter: headers.get('retry-after') }).toEqual({
      status: 409,
      error: expect.objectContaining({ type: 'conflict', errors: [] }),
      retryAfter: '1',
    })
  }
  expect(errors).toEqual([])
  await service.logged()
  // Only what identifies a key sets this header. Without an answer from Redis in time, the key is read too.
  const identified = refused.filter(({ headers }) => headers.has('ratelimit'))
  const { body } = await actor.send('GET', '/v1/requests?status=5xx,409&per_page=100')
  const shown: { status: number; error: { type: string } }[] = body.data
  expect(shown.map(({ status, error }) => ({ status, type: error.type }))).toEqual(
    Array.from({ length: identified.length }, () => ({ status: 409, type: 'conflict' })),
  )
  for (const [kind, send] of Object.entries(requests))
    expect({ kind, isServed: (await send()).status < 300 }).toEqual({ kind, isServed: true })
})
