import { addDays, toDay } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { prepareAvailability } from '../../inventory/availability/write.ts'
import { carryOut } from '../../platform/mongo/transactions.ts'
import { bookingStatus } from '../../stays/bookings/status.ts'
import { findNewestBooking } from '../../stays/bookings/store.ts'
import { readNights } from '../../stays/nights/read-nights.ts'
import { readHostClock } from '../../versions/host-clock-store.ts'
import { book, makeGuest, type Place, placesFor, type Stay } from '../scenarios/stage.ts'
import { draw } from './draw.ts'
import { areOver, gradeRepeated } from './faults.ts'
import type { RequestRecord } from './model.ts'
import type { Next } from './next.ts'
import { changesAfter, isGood, ofOperation, operations } from './reads.ts'
import type { CourseStep, Look, Run } from './step.ts'

const route = operations.book
const stayNights = 30

const sent = (run: Run) => ofOperation(run, route)

/** A stay that a product is asked to book. */
type Wanted = Place & Stay

/** The first stay from a day on, or a month later again and again, of which units are left. */
async function freeStay({ app, hostId, keyId }: Run, from: string): Promise<Wanted> {
  for (let checkin_at = from; ; checkin_at = addDays(checkin_at, stayNights)) {
    const stay = { checkin_at, checkout_at: addDays(checkin_at, stayNights) }
    const places = await placesFor({ app, hostId, keyId }, null, stay, 1).catch((error) => {
      if (error instanceof DomainError) return []
      throw error
    })
    if (places[0]) return { ...places[0], ...stay }
    // A product that closes its whole year leaves the years after it open.
    if (checkin_at > addDays(from, 500)) throw new Error('No unit is left on any night')
  }
}

/** Draws a stay of which units are left. */
async function drawStay(run: Run, name: string): Promise<Wanted> {
  const today = toDay(run.app.clock(run.hostId))
  return freeStay(run, addDays(today, draw(run.certification.seed, `${name}/day`, 40, 90)))
}

const bookThis = (wanted: Wanted, text = 'Book this stay for a guest'): Next => ({
  action: 'book',
  text,
  ...wanted,
})

/** The bookings of a stay that were made since the step began. */
async function madeOf(run: Run, { room_type_id, checkin_at, checkout_at }: Wanted) {
  const made = await changesAfter(run, run.memo.after as Date)
  return made.filter(
    (booking) =>
      booking.room_type_id === room_type_id &&
      booking.checkin_at === checkin_at &&
      booking.checkout_at === checkout_at,
  )
}

const lost: CourseStep = {
  name: 'book-lost',
  profile: 'bookings',
  cases: ['bookings.key', 'bookings.lost'],
  byHand: [route],
  prepare: async (run) => ({
    after: await readHostClock(run.app.db, run.hostId),
    stay: await drawStay(run, 'lost'),
  }),
  next: ({ memo }) => bookThis(memo.stay as Wanted),
  faults: ({ bounds: { losing: milliseconds } }) => [{ fault: 'lost_response', route, milliseconds }],
  async look(run) {
    const made = await madeOf(run, run.memo.stay as Wanted)
    const requests = sent(run)
    const facts = { booking: made[0]?.id ?? null }
    const wrong = wrongAfterLoss(requests, made.length)
    if (wrong) return { results: wrong, isDone: areOver(run), facts }
    const isSame = (one: RequestRecord, other: RequestRecord) =>
      one.key_hash === other.key_hash && one.body_hash === other.body_hash
    const lostOnes = requests.filter((record) => !isGood(record))
    const again =
      made.length === 1 &&
      requests.find((record) => isGood(record) && lostOnes.some((one) => isSame(one, record)))
    // One that books again by another key may do so a little later.
    if (!again || run.now.getTime() - again.answered_at.getTime() < run.bounds.silence)
      return { progress: requests.length }
    return {
      results: { 'bookings.key': { status: 'passed' }, 'bookings.lost': { status: 'passed' } },
      isDone: true,
      facts,
    }
  },
  late: ({ records }) =>
    records.some(({ operation }) => operation === route)
      ? 'After the lost response the same body was not sent again with the same `Idempotency-Key`'
      : 'No booking was sent',
}

/** What is wrong with how a booking was sent whose response was lost; null where nothing is yet. */
function wrongAfterLoss(requests: RequestRecord[], bookings: number): Look['results'] | null {
  const withoutKey = requests.filter(({ key_hash }) => key_hash === null)
  if (withoutKey.length > 0)
    return {
      'bookings.key': {
        status: 'failed',
        because:
          'A booking was sent without an `Idempotency-Key`: after a lost response nobody knows whether it was made',
        seen: withoutKey,
      },
      'bookings.lost': { status: 'skipped', because: 'It cannot be told without an `Idempotency-Key`' },
    }
  if (bookings < 2) return null
  const because = `After the lost response the stay was booked again with another \`Idempotency-Key\`: there are ${bookings} bookings of it`
  return {
    'bookings.key': { status: 'passed' },
    'bookings.lost': { status: 'failed', because, seen: requests },
  }
}

const unavailable: CourseStep = {
  name: 'book-unavailable',
  profile: 'bookings',
  cases: ['bookings.refused', 'bookings.unavailable'],
  byHand: [route],
  async prepare(run) {
    const stay = await drawStay(run, 'unavailable')
    const later = addDays(stay.checkout_at, draw(run.certification.seed, 'later', 5, 20))
    const other = await freeStay(run, later)
    return { after: await readHostClock(run.app.db, run.hostId), stay, other }
  },
  next: ({ memo }) => bookThis(memo.stay as Wanted),
  async play(run) {
    await takeUnits(run, run.memo.stay as Wanted)
  },
  async look(run) {
    const { stay, other } = run.memo as { stay: Wanted; other: Wanted }
    const first = sent(run).find(({ status }) => status === 422)
    const looked = run.records.some(({ operation }) => looks.includes(operation))
    const waited = run.now.getTime() - run.playedAt.getTime() > run.bounds.followed
    // A product that sees that nothing is left sends nothing.
    if (!first && !(looked && waited)) return { progress: sent(run).length }
    const next = bookThis(
      other,
      `The units of the nights from ${stay.checkin_at} on are gone: book these nights instead`,
    )
    const refused = gradeRepeated(
      run,
      sent(run),
      first,
      'A booking that was refused was repeated again and again unchanged: it will be refused again',
    )
    const [made] = await madeOf(run, other)
    const results = refused ? { 'bookings.refused': refused } : {}
    if (!made || refused === null) return { results, next, progress: sent(run).length + (made ? 1 : 0) }
    return {
      results: { ...results, 'bookings.unavailable': { status: 'passed' } },
      isDone: true,
      facts: { booking: run.certification.facts.booking ?? made.id },
    }
  },
  late: () => 'The other nights were not booked after the first were refused',
}

const looks: string[] = [operations.nights, operations.availabilityRead]

/** Leaves one unit of the nights, and gives it to a guest; once more does no harm. */
async function takeUnits(
  { app, hostId, keyId }: Run,
  { checkin_at, checkout_at, ...place }: Wanted,
): Promise<void> {
  const nights = { from: checkin_at, to: addDays(checkout_at, -1) }
  const units = (await readNights(app.db, hostId, [place.room_type_id], nights)).get(place.room_type_id) ?? []
  if (units.every(({ left }) => left === 0)) return
  const item = { ...place, available: 1, start_date: nights.from, end_date: nights.to }
  await carryOut(app.db, await prepareAvailability(app, hostId, [item]))
  const stage = { app, hostId, keyId }
  const guest = { user_id: await makeGuest(stage), place, stay: { checkin_at, checkout_at } }
  await book(stage, guest).catch((error) => {
    // The product was faster: the nights are gone all the same.
    if (!(error instanceof DomainError)) throw error
  })
}

const cancel: CourseStep = {
  name: 'cancel',
  profile: 'bookings',
  cases: ['bookings.cancel'],
  byHand: ['POST /sandbox/bookings/:booking_id/cancel'],
  next: ({ certification: { facts } }) => ({
    action: 'cancel',
    text: 'Cancel this booking',
    ...(facts.booking ? { booking_id: facts.booking as number } : {}),
  }),
  async look({ app, hostId, certification: { facts } }) {
    const { booking } = facts as { booking?: number | null }
    if (!booking)
      return {
        results: { 'bookings.cancel': { status: 'skipped', because: 'No booking was made' } },
        isDone: true,
      }
    const cancelled = await findNewestBooking(app.db, hostId, {
      id: booking,
      statuses: [bookingStatus.cancelled],
    })
    return cancelled ? { results: { 'bookings.cancel': { status: 'passed' } }, isDone: true } : {}
  },
  late: () => 'The booking was not cancelled',
}

/** What is played to a product that books. */
export const bookingSteps: CourseStep[] = [lost, unavailable, cancel]
