import { addDays, toDay } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { book, makeGuest, setUnits } from '../../sandbox/scenarios/stage.ts'
import { bookingStatus } from '../../stays/bookings/status.ts'
import { findNewestBooking } from '../../stays/bookings/store.ts'
import { readNights } from '../../stays/nights/nights.ts'
import type { Next, StayToBook } from '../model.ts'
import type { RequestRecord } from '../record/model.ts'
import { hasSucceeded } from '../record/recording.ts'
import { changesAfter } from './arrivals.ts'
import {
  areFaultsOver,
  firstRefused,
  gradeRefusedResend,
  isFollowUpWindowOver,
  playedAt,
  requestsTo,
} from './grading.ts'
import { draw, findOpenStay, stageOf } from './play.ts'
import {
  type CourseStep,
  failed,
  passed,
  type Results,
  type Run,
  requireNextAction,
  skipped,
} from './step.ts'

const route = 'POST /sandbox/bookings'
const cancelRoute = 'POST /sandbox/bookings/:booking_id/cancel'
/** Routes that show how many units are left. */
const unitRoutes = [
  'GET /sandbox/integrations/:provider/availability/nights',
  'GET /sandbox/integrations/:provider/availability',
]

/** Id of a user that, according to the contract, exists in every sandbox. */
const guestId = 1001

/** The steps for a product that creates bookings. */
export const bookingSteps: CourseStep[] = [
  {
    name: 'book-lost',
    cases: ['bookings.key', 'bookings.lost'],
    manualRoute: route,
    next: async (run) => bookAction(await drawStay(run, 'lost', firstDay(run))),
    faults: ({ bounds: { lossDuration: milliseconds } }) => [{ fault: 'lost_response', route, milliseconds }],
    async check(run) {
      const stay = requireNextAction(run, 'book')
      const made = await findCreatedBookings(run, stay)
      const requests = requestsTo(run.records, route)
      const facts = { booking: made[0]?.id ?? null, bookedUntil: stay.checkout_at }
      const wrong = wrongAfterLoss(requests, made.length)
      if (wrong) return { results: wrong, isDone: areFaultsOver(run), facts }
      const lost = requests.filter((record) => !hasSucceeded(record))
      const again = requests.find((record) => hasSucceeded(record) && lost.some((one) => isSame(one, record)))
      // The product may still book again with another `Idempotency-Key`, so the step waits a little longer.
      if (made.length !== 1 || !again || !isFollowUpWindowOver(run, again))
        return { progress: requests.length, facts }
      return { isDone: true, results: { 'bookings.key': passed, 'bookings.lost': passed }, facts }
    },
    late: (run) =>
      requestsTo(run.records, route).length > 0
        ? 'After the lost response, the same body was not sent again with the same `Idempotency-Key`'
        : 'No booking was sent',
  },
  {
    name: 'book-unavailable',
    cases: ['bookings.refused', 'bookings.unavailable'],
    manualRoute: route,
    async prepare(run) {
      const stay = await drawStay(run, 'unavailable', run.certification.facts.bookedUntil ?? firstDay(run))
      return { stay, other: await drawStay(run, 'other', stay.checkout_at) }
    },
    next: (run) => bookAction(staysOf(run).stay),
    play: (run) => takeUnits(run, staysOf(run).stay),
    async check(run) {
      const { stay, other } = staysOf(run)
      const sent = requestsTo(run.records, route)
      const first = firstRefused(sent)
      const hasLooked = run.records.some(({ operation }) => unitRoutes.includes(operation))
      const hasWaited = Number(run.now) - Number(playedAt(run)) > run.bounds.followed
      // A product that already knows that no units are left does not try to book these nights.
      if (!first && !(hasLooked && hasWaited)) return { progress: sent.length }
      const refused = gradeRefusedResend(
        run,
        sent,
        first,
        'A refused booking was sent again unchanged; it will be refused again',
      )
      const [made] = await findCreatedBookings(run, other)
      const results: Results = refused ? { 'bookings.refused': refused } : {}
      if (made && refused)
        return {
          isDone: true,
          results: { ...results, 'bookings.unavailable': passed },
          facts: { booking: run.certification.facts.booking ?? made.id },
        }
      const text = `No units are left on the nights from ${stay.checkin_at}; book these nights instead`
      return { results, next: bookAction(other, text), progress: sent.length + (made ? 1 : 0) }
    },
    late: () => 'After the first booking was refused, the other nights were not booked',
  },
  {
    name: 'cancel',
    cases: ['bookings.cancel'],
    manualRoute: cancelRoute,
    next: ({ certification: { facts } }) => ({
      action: 'cancel',
      text: 'Cancel this booking',
      ...(facts.booking ? { booking_id: facts.booking } : {}),
    }),
    async check({ app, certification: { facts, sandbox_id } }) {
      const { booking: id } = facts
      if (!id) return { isDone: true, results: { 'bookings.cancel': skipped('No booking was made') } }
      const statuses = [bookingStatus.cancelled]
      const cancelled = await findNewestBooking(app.db, sandbox_id, { id, statuses })
      return cancelled ? { isDone: true, results: { 'bookings.cancel': passed } } : {}
    },
    late: () => 'The booking was not cancelled',
  },
]

function staysOf({ certification: { step } }: Run) {
  const { stay, other } = step.memo
  if (!stay || !other) throw new Error('The step has no stays')
  return { stay, other }
}

function bookAction(stay: StayToBook, text = 'Book this stay for a guest'): Next {
  return { action: 'book', text, user_id: guestId, ...stay }
}

function firstDay({ app, certification }: Run): string {
  return addDays(toDay(app.clock(certification.sandbox_id)), 35)
}

/**
 * Draws a stay that has units left and starts at least five days after `after`, so that successive stays do not
 * overlap.
 */
async function drawStay(run: Run, name: string, after: string): Promise<StayToBook> {
  const from = addDays(after, draw(run, `${name}/day`, 5, 50))
  const { stay, place } = await findOpenStay(run, from, 1)
  return { ...place, ...stay }
}

/** Returns the bookings created for a stay since the step began. */
async function findCreatedBookings(run: Run, { room_type_id, checkin_at, checkout_at }: StayToBook) {
  const changed = await changesAfter(run, run.certification.step.memo.after)
  return changed.filter(
    (booking) =>
      booking.room_type_id === room_type_id &&
      booking.checkin_at === checkin_at &&
      booking.checkout_at === checkout_at,
  )
}

function isSame(one: RequestRecord, other: RequestRecord): boolean {
  return one.key_hash === other.key_hash && one.body_hash === other.body_hash
}

/** Returns the results if the product handled a lost response incorrectly; null if no mistake has been observed. */
function wrongAfterLoss(requests: RequestRecord[], bookings: number): Results | null {
  const withoutKey = requests.filter(({ key_hash }) => key_hash === null)
  if (withoutKey.length > 0)
    return {
      'bookings.key': failed(
        'A booking was sent without an `Idempotency-Key`, so after a lost response it is unknown whether the booking was made',
        withoutKey,
      ),
      'bookings.lost': skipped('Cannot be judged without an `Idempotency-Key`'),
    }
  if (bookings < 2) return null
  const because = `After the lost response, the stay was booked again with another \`Idempotency-Key\`, so it now has ${bookings} bookings`
  return { 'bookings.key': passed, 'bookings.lost': failed(because, requests) }
}

/** Sets each of a stay's nights to one unit and books that unit for a guest. Running this twice is harmless. */
async function takeUnits(run: Run, { checkin_at, checkout_at, ...place }: StayToBook): Promise<void> {
  const stay = { checkin_at, checkout_at }
  const nights = { from: checkin_at, to: addDays(checkout_at, -1) }
  const units = await readNights(run.app, run.certification.sandbox_id, [place.room_type_id], nights)
  if (units.get(place.room_type_id)?.every(({ left }) => left === 0) ?? true) return
  const stage = stageOf(run)
  await setUnits(stage, place, stay, 1)
  await book(stage, { user_id: await makeGuest(stage), place, stay }).catch((error) => {
    // The product has already booked the last unit, so no units are left either way.
    if (!(error instanceof DomainError)) throw error
  })
}
