import { expect, test } from 'vitest'
import { hostQueue } from '../../../src/host-clock/store.ts'
import { inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { bookingStatus } from '../../../src/stays/bookings/status.ts'
import { requireLegalTransition, transitionBooking } from '../../../src/stays/bookings/transitions.ts'
import { partnerctlHere as partnerctl } from '../../support/admin.ts'
import { seedBooking, testApp, testEnvironment } from '../../support/app.ts'

const service = await testApp()
const environment = () => ({ MONGODB_URL: testEnvironment().MONGODB_URL as string })
const bookings = (...args: string[]) => partnerctl(['bookings', ...args, '--json'], environment())

test.each([
  ['pending', 'confirmed'],
  ['pending', 'cancelled'],
  ['confirmed', 'cancelled'],
] as const)('requireLegalTransition() allows %s to become %s', (from, to) => {
  expect(() => requireLegalTransition(from, to)).not.toThrow()
})

test.each([
  ['pending', 'pending', 'confirmed or cancelled'],
  ['confirmed', 'confirmed', 'only become cancelled'],
  ['confirmed', 'pending', 'only become cancelled'],
  ['cancelled', 'confirmed', 'its status is final'],
  ['cancelled', 'cancelled', 'its status is final'],
] as const)('requireLegalTransition() does not allow %s to become %s: "%s"', (from, to, hint) => {
  expect(() => requireLegalTransition(from, to)).toThrow(hint)
})

test('of equal moves that wait for the same lock, one succeeds and the others are refused', async () => {
  const actor = await service.actor()
  const { booking_id: id } = await seedBooking(actor)
  const { db } = service.live
  const gate = Promise.withResolvers<void>()
  const turn = inTransaction(db, hostQueue(actor.hostId), () => gate.promise)
  const pending = { owner_id: actor.hostId, id, status: bookingStatus.pending }
  const confirm = () => transitionBooking(service.live, pending, { to: 'confirmed' })
  const moves = Promise.allSettled([confirm(), confirm(), confirm()])
  gate.resolve()
  await turn
  expect((await moves).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
})

test('partnerctl bookings confirm and cancel change the status and the version of a booking', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const feed = async () =>
    (await actor.send('GET', '/v1/integrations/provider_one/bookings')).body.data.Bookings[0]
  const before = await feed()
  const confirmed = JSON.parse((await bookings('confirm', String(booking_id))).stdout)
  expect(confirmed).toMatchObject({ booking_id, host_id: actor.hostId, status: 'confirmed' })
  const middle = await feed()
  expect({ status: middle.status, version: middle.version }).toEqual({
    status: 'confirmed',
    version: confirmed.version,
  })
  expect(middle.version > before.version).toBe(true)
  const refused = await bookings('confirm', String(booking_id))
  expect({ code: refused.code, stdout: refused.stdout, stderr: refused.stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('only become cancelled'),
  })
  expect(await feed()).toEqual(middle)
  const cancelled = JSON.parse((await bookings('cancel', String(booking_id), '--reason', 'Flood')).stdout)
  expect(cancelled).toMatchObject({ status: 'cancelled', cancellation_reason: 'Flood' })
  expect((await feed()).version > middle.version).toBe(true)
  expect((await bookings('cancel', 'x')).code).toBe(2)
})
