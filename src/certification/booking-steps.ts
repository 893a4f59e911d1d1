import { addDays, toDay } from '../core/clock.ts'
import { bookingStatus } from '../stays/bookings/status.ts'
import { findNewestBooking } from '../stays/bookings/store.ts'
import { readHostClock } from '../versions/host-clock-store.ts'
import { drawStay, madeOf, takeUnits, type Wanted } from './booking-stays.ts'
import { areOver, firstRefused, gradeRepeated } from './faults.ts'
import type { RequestRecord } from './model.ts'
import type { Next } from './next.ts'
import { isGood, ofOperation, operations } from './reads.ts'
import type { CourseStep, Look, Run } from './step.ts'

const route = operations.book
const sent = (run: Run) => ofOperation(run, route)

/** Id of a user that exists in every sandbox according to the contract. */
const guestId = 1001

const bookThis = (wanted: Wanted, text = 'Book this stay for a guest'): Next => ({
  action: 'book',
  text,
  user_id: guestId,
  ...wanted,
})

const lost: CourseStep = {
  name: 'book-lost',
  profile: 'bookings',
  cases: ['bookings.key', 'bookings.lost'],
  byHand: [route],
  prepare: async (run) => ({
    after: await readHostClock(run.app.db, run.hostId),
    stay: await drawStay(run, 'lost', addDays(toDay(run.app.clock(run.hostId)), 35)),
  }),
  next: ({ memo }) => bookThis(memo.stay as Wanted),
  faults: ({ bounds: { losing: milliseconds } }) => [{ fault: 'lost_response', route, milliseconds }],
  async look(run) {
    const stay = run.memo.stay as Wanted
    const made = await madeOf(run, stay)
    const requests = sent(run)
    const facts = { booking: made[0]?.id ?? null, bookedUntil: stay.checkout_at }
    const wrong = wrongAfterLoss(requests, made.length)
    if (wrong) return { results: wrong, isDone: areOver(run), facts }
    const isSame = (one: RequestRecord, other: RequestRecord) =>
      one.key_hash === other.key_hash && one.body_hash === other.body_hash
    const lostOnes = requests.filter((record) => !isGood(record))
    const again =
      made.length === 1 &&
      requests.find((record) => isGood(record) && lostOnes.some((one) => isSame(one, record)))
    // A product that books again with another key may do so a little later.
    if (!again || run.now.getTime() - again.answered_at.getTime() < run.bounds.silence)
      return { progress: requests.length, facts }
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

/** Returns the results if a product has handled a lost booking response wrongly, or null if nothing is wrong so far. */
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
    const stay = await drawStay(run, 'unavailable', run.certification.facts.bookedUntil as string)
    const other = await drawStay(run, 'other', stay.checkout_at)
    return { after: await readHostClock(run.app.db, run.hostId), stay, other }
  },
  next: ({ memo }) => bookThis(memo.stay as Wanted),
  async play(run) {
    await takeUnits(run, run.memo.stay as Wanted)
  },
  async look(run) {
    const { stay, other } = run.memo as { stay: Wanted; other: Wanted }
    const first = firstRefused(sent(run))
    const looked = run.records.some(({ operation }) => looks.includes(operation))
    const waited = run.now.getTime() - run.playedAt.getTime() > run.bounds.followed
    // A product that has read that no units are left sends nothing.
    if (!first && !(looked && waited)) return { progress: sent(run).length }
    const next = bookThis(
      other,
      `The units of the nights from ${stay.checkin_at} on are gone: book these nights instead`,
    )
    const refused = gradeRepeated(
      run,
      sent(run),
      first,
      'A booking that was refused was repeated unchanged: it will be refused again',
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

/** The steps for a product that makes bookings. */
export const bookingSteps: CourseStep[] = [lost, unavailable, cancel]
