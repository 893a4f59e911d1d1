import { expect, test } from 'vitest'
import { listActions } from '../../../src/access/audit/store.ts'
import { toVersion } from '../../../src/host-clock/format.ts'
import { hostQueue, readHostClock } from '../../../src/host-clock/store.ts'
import type { Caller } from '../../../src/http/request.ts'
import { Batches, inTransaction, type Traced } from '../../../src/platform/mongo/turns/transactions.ts'
import { type PartnerMove, partnerMoves } from '../../../src/stays/bookings/partner-transition.ts'
import { type Actor, seedBooking, sender, sharedServices, testApp } from '../../support/app.ts'

const service = await testApp()
const { db } = service.live
const move = (
  actor: Pick<Actor, 'send'>,
  id: number | string,
  to: 'confirm' | 'cancel',
  sending: { body?: unknown; headers?: Record<string, string> } = {},
) => actor.send('POST', `/v1/bookings/${id}/${to}`, sending)
const detailOf = async (actor: Actor, id: number) =>
  (await actor.send('GET', `/v1/integrations/provider_one/bookings/${id}`)).body.data.Booking
const auditOf = async (id: number) =>
  (await listActions(db, {}, 1000)).filter(({ target }) => target === `booking ${id}`)

/** The fields of a caller that a move does not depend on. */
const callerFields: Omit<Caller, 'keyId' | 'ownerId'> = {
  maxHoldSeconds: undefined,
  isSandbox: false,
  permissions: [],
  address: '127.0.0.1',
  host: { id: 0, name: '', email: '', createdAt: new Date(), lastLoginAt: null },
}

test('a partner confirms and cancels a booking, and its detail shows the reason', async () => {
  const actor = await service.actor()
  const { booking_id: id } = await seedBooking(actor)
  const before = await detailOf(actor, id)
  expect(before).toMatchObject({ status: 'pending', cancellation_reason: null })
  const confirmed = await move(actor, id, 'confirm')
  expect({ status: confirmed.status, booking: confirmed.body.data.Booking }).toEqual({
    status: 200,
    booking: await detailOf(actor, id),
  })
  expect(confirmed.body.data.Booking).toMatchObject({ status: 'confirmed', cancellation_reason: null })
  const cancelled = await move(actor, id, 'cancel', { body: { reason: '  Guest fell ill ', unknown: 1 } })
  expect(cancelled.body.data.Booking).toMatchObject({
    status: 'cancelled',
    cancellation_reason: 'Guest fell ill',
  })
  expect(cancelled.body.data.Booking.meta.version > confirmed.body.data.Booking.meta.version).toBe(true)
  expect(cancelled.body.data.Booking).toEqual(await detailOf(actor, id))
})

test('an illegal move gets 409 and changes nothing', async () => {
  const actor = await service.actor()
  const { booking_id: id } = await seedBooking(actor)
  await move(actor, id, 'confirm')
  const before = await detailOf(actor, id)
  const again = await move(actor, id, 'confirm', { body: {} })
  expect({ status: again.status, type: again.body.error.type, message: again.body.error.message }).toEqual({
    status: 409,
    type: 'conflict',
    message: 'The booking is confirmed: it can only become cancelled',
  })
  expect(again.headers.get('retry-after')).toBeNull()
  expect(await detailOf(actor, id)).toEqual(before)
  await move(actor, id, 'cancel', { body: { reason: null } })
  for (const to of ['confirm', 'cancel'] as const) expect((await move(actor, id, to)).status).toBe(409)
})

test.each([
  [undefined, null],
  [{}, null],
  [{ reason: '   ' }, null],
  [{ reason: 'x'.repeat(1000) }, 'x'.repeat(1000)],
])('a booking can be cancelled with the body %j', async (body, reason) => {
  const actor = await service.actor()
  const { booking_id: id } = await seedBooking(actor)
  const { status, body: answer } = await move(actor, id, 'cancel', { body })
  expect({ status, cancellation_reason: answer.data.Booking.cancellation_reason }).toEqual({
    status: 200,
    cancellation_reason: reason,
  })
})

test.each([
  [{ reason: 'x'.repeat(1001) }, 'reason', 'max'],
  [{ reason: 5 }, 'reason', 'invalid'],
  ['[]', 'body', 'invalid'],
])('the body %j gets 422, even for an unknown booking', async (body, path, code) => {
  const actor = await service.actor()
  const { booking_id: id } = await seedBooking(actor)
  for (const target of [id, 999_999_999]) {
    const { status, body: answer } = await move(actor, target, 'cancel', { body })
    expect({ status, path: answer.error.errors[0].path, code: answer.error.errors[0].code }).toEqual({
      status: 422,
      path,
      code,
    })
  }
  expect((await detailOf(actor, id)).status).toBe('pending')
})

test("the audit log has each partner's move once, but no refused, replayed or sandbox move", async () => {
  const actor = await service.actor()
  const { booking_id: id } = await seedBooking(actor)
  const once = { 'idempotency-key': 'once' }
  await move(actor, id, 'confirm', { body: {}, headers: once })
  expect(
    (await move(actor, id, 'confirm', { body: {}, headers: once })).headers.get('idempotent-replayed'),
  ).toBe('true')
  await move(actor, id, 'confirm')
  await move(actor, id, 'cancel', { body: { reason: 'Flood' } })
  const partner = { user: `key ${actor.keyId}`, machine: '127.0.0.1' }
  expect(await auditOf(id)).toMatchObject([
    { ...partner, action: 'bookings cancel', target: `booking ${id}`, reason: 'Flood' },
    { ...partner, action: 'bookings confirm', target: `booking ${id}`, reason: null },
  ])
  expect((await actor.send('POST', '/sandbox/bookings/5002/confirm')).status).toBe(200)
  expect(await service.sandbox.db.collection('host_audit').countDocuments()).toBe(0)
  expect(await db.collection('host_audit').countDocuments({ target: 'booking 5002', ...partner })).toBe(0)
})

test('moves of one booking that wait for the same turn are made one after the other', async () => {
  const actor = await service.actor()
  const { booking_id: id } = await seedBooking(actor)
  const caller = { ...callerFields, keyId: actor.keyId, ownerId: actor.hostId }
  const gate = Promise.withResolvers<void>()
  const turn = inTransaction(db, hostQueue(actor.hostId), () => gate.promise)
  const batches = new Batches(db, (session, ownerId: number, moved: Traced<PartnerMove>[]) =>
    partnerMoves.write(service.live, session, ownerId, moved),
  )
  const requests: PartnerMove[] = []
  for (const to of ['confirmed', 'confirmed', 'cancelled'] as const)
    requests.push(await partnerMoves.prepare(service.live, actor.hostId, { caller, bookingId: id, to }))
  const queue = hostQueue(actor.hostId)
  const moves = Promise.allSettled(
    requests.map((request) => batches.run({ queue, shared: actor.hostId, request })),
  )
  gate.resolve()
  await turn
  const statuses = (await moves).map(({ status }) => status)
  expect(statuses).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((await detailOf(actor, id)).status).toBe('cancelled')
  expect((await auditOf(id)).map(({ action }) => action).sort()).toEqual([
    'bookings cancel',
    'bookings confirm',
  ])
})

test('an Idempotency-Key belongs to one booking and one kind of move', async () => {
  const actor = await service.actor()
  const one = await seedBooking(actor)
  const other = await bookAgain(actor)
  const headers = { 'idempotency-key': 'k' }
  const moves = [
    await move(actor, one.booking_id, 'confirm', { body: {}, headers }),
    await move(actor, other, 'confirm', { body: {}, headers }),
    await move(actor, one.booking_id, 'cancel', { body: {}, headers }),
  ]
  for (const { status, headers: sent } of moves)
    expect({ status, replayed: sent.get('idempotent-replayed') }).toEqual({ status: 200, replayed: null })
  const mismatch = await move(actor, one.booking_id, 'cancel', { body: { reason: 'x' }, headers })
  expect({ status: mismatch.status, type: mismatch.body.error.type }).toEqual({
    status: 409,
    type: 'idempotency_key_mismatch',
  })
  const replay = await move(actor, one.booking_id, 'confirm', { body: {}, headers })
  expect({ text: replay.text, replayed: replay.headers.get('idempotent-replayed') }).toEqual({
    text: moves[0]?.text,
    replayed: 'true',
  })
})

async function bookAgain(actor: Actor): Promise<number> {
  const { data } = (await actor.send('GET', '/v1/listings')).body
  const listing = (await actor.send('GET', `/v1/listings/${data[0].id}`)).body.data
  const user = await db.collection('users').findOne({ owner_id: actor.hostId })
  const body = { user_id: user?.id, listing_id: listing.id, room_type_id: listing.room_types[0].id }
  const stay = { checkin_at: '2031-03-01', checkout_at: '2031-03-05' }
  return (await actor.send('POST', '/v1/bookings', { body: { ...body, ...stay } })).body.data.booking_id
}

const processes = sharedServices()

test.each([
  ['one key', {}, 1],
  ['one Idempotency-Key', { 'idempotency-key': 'equal' }, 50],
])(
  '50 concurrent equal cancels over two processes with %s make one change',
  async (_, headers, succeeding) => {
    const actor = await service.actor()
    const { booking_id: id } = await seedBooking(actor)
    const before = await detailOf(actor, id)
    const senders = processes.map(({ url }) => sender(fetch, url))
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (senders[index % 2] as (typeof senders)[0])('POST', `/v1/bookings/${id}/cancel`, {
          key: actor.key,
          headers,
          body: { reason: 'Double booking' },
          repeatWhileBusy: true,
        }),
      ),
    )
    const succeeded = responses.filter(({ status }) => status === 200)
    expect({
      succeeded: succeeded.length,
      responses: new Set(succeeded.map(({ text }) => text)).size,
    }).toEqual({ succeeded: succeeding, responses: 1 })
    expect(new Set(responses.map(({ status }) => status)).size).toBe(succeeding === 50 ? 1 : 2)
    const { body } = await actor.send(
      'GET',
      `/v1/integrations/provider_one/bookings?updated_after=${before.meta.version}`,
    )
    expect(body.data.Bookings).toMatchObject([{ booking_id: id, status: 'cancelled' }])
    expect(body.data.Bookings[0].version).toBe(succeeded[0]?.body.data.Booking.meta.version)
    expect(await auditOf(id)).toHaveLength(1)
    expect(toVersion(await readHostClock(db, actor.hostId))).toBe(body.data.Bookings[0].version)
  },
)
