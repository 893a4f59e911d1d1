import { expect, test } from 'vitest'
import { inTransaction } from '../../../src/platform/mongo/transactions.ts'
import { bookingStatus } from '../../../src/stays/bookings/status.ts'
import { requireLegalTransition, transitionBooking } from '../../../src/stays/bookings/transitions.ts'
import { hostQueue } from '../../../src/versions/host-clock-store.ts'
import { seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { partnerctl } from '../../support/processes.ts'

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
  const pending = { host_id: actor.hostId, id, status: bookingStatus.pending }
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
  expect([middle.status, middle.version > before.version, middle.version]).toEqual([
    'confirmed',
    true,
    confirmed.version,
  ])
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
  expect((await bookings('cancel', String(booking_id))).code).toBe(1)
  expect((await bookings('cancel', '999999999')).code).toBe(1)
  expect((await bookings('cancel', 'x')).code).toBe(2)
})

test('partnerctl audit list shows each administrative action with its user and machine', async () => {
  const { booking_id } = await seedBooking(await service.actor())
  await bookings('confirm', String(booking_id))
  const { stdout } = await partnerctl(['audit', 'list', '--limit', '200', '--json'], environment())
  const acts = JSON.parse(stdout) as Record<string, string>[]
  const act = acts.find(({ target }) => target === `booking ${booking_id}`)
  expect(act).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    at: expect.any(String),
    user: expect.stringMatching(/\S/),
    machine: expect.stringMatching(/\S/),
    sudo_user: null,
    database_user: null,
    action: 'bookings confirm',
    target: `booking ${booking_id}`,
    reason: null,
  })
  // Reading page by page gives the same entries in the same order as reading all of them as NDJSON.
  const page = async (...args: string[]) =>
    JSON.parse((await partnerctl(['audit', 'list', '--json', ...args], environment())).stdout) as {
      id: string
    }[]
  const first = await page('--limit', '1', '--until', '2999-01-01')
  const [second] = await page('--limit', '1', '--after', first[0]?.id as string)
  const lines = await partnerctl(
    ['audit', 'list', '--output', 'ndjson', '--since', '2020-01-01'],
    environment(),
  )
  const ids = lines.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id as string)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.indexOf(second?.id as string) - ids.indexOf(first[0]?.id as string)).toBe(1)
  expect((await partnerctl(['audit', 'list', '--output', 'ndjson', '--json'], environment())).code).toBe(2)
  expect((await partnerctl(['audit', 'list', '--after', 'f'.repeat(24)], environment())).code).toBe(1)
  expect((await partnerctl(['audit', 'list', '--since', 'yesterday'], environment())).code).toBe(2)
})
