import { DomainError } from '../../core/errors.ts'
import type { SandboxContext } from '../../sandbox/context.ts'
import type { Certification, DeliveredVersion } from '../model.ts'
import { feedRoute } from '../record/recording.ts'
import type { CertificationState } from '../schema.ts'
import { findDelivered, findDeliveries, recordProblems } from '../store.ts'
import type { CaseName } from './cases.ts'
import {
  changesAfter,
  done,
  failed,
  type MissingBookingsContext,
  passed,
  type Results,
  type Run,
  requestsTo,
  type StepFindings,
  skipped,
} from './step.ts'

/**
 * Minimum number of bookings that the first sync must read. If a product's filters leave fewer bookings, its sync
 * proves nothing.
 */
const minSyncedBookings = 100

/**
 * Returns the progress of the first sync: the listings whose bookings it has read, the numbers of bookings read
 * (`arrived`) and required (`wanted`), and the missing bookings. All bookings of these listings are required, and at
 * least `minSyncedBookings` bookings.
 */
export async function syncProgress(run: MissingBookingsContext) {
  const all = await changesAfter(run, null)
  const shown = await findDelivered(run.app.db, run.certification._id, all)
  const listings = [...new Set(shown.map(({ listing_id }) => listing_id))]
  const wanted = all.filter(({ listing_id }) => listings.includes(listing_id))
  // Before the first page is read, it is unknown which listings the product asks for.
  const missing = (shown.length === 0 ? all : wanted).filter((booking) => !shown.includes(booking))
  return { wanted: Math.max(wanted.length, minSyncedBookings), arrived: shown.length, listings, missing }
}

/**
 * Returns the bookings changed since the step began, split into arrived and missing bookings. A product may handle only
 * some listings, so a booking counts only if the first sync read bookings of its listing. Without a first sync, all
 * bookings count.
 */
export async function arrivals(run: MissingBookingsContext) {
  const { _id, facts } = run.certification
  const changed = await changesAfter(run, run.step.memo.after)
  const wanted = changed.filter(({ listing_id }) => facts.listings?.includes(listing_id) ?? true)
  const arrived = await findDelivered(run.app.db, _id, wanted)
  const missing = wanted.filter((booking) => !arrived.includes(booking))
  return { arrived, missing, isComplete: wanted.length > 0 && missing.length === 0 }
}

/** Returns the bookings changed since the step began that the product has yet to read. */
export const missingArrivals = async (run: MissingBookingsContext) => (await arrivals(run)).missing

/** Passes a case once all changes since the step began have arrived. */
export async function checkArrivals(run: Run, name: CaseName): Promise<StepFindings> {
  const { arrived, isComplete } = await arrivals(run)
  return isComplete ? done({ [name]: passed }) : { progress: arrived.length }
}

/**
 * Fails a case because bookings did not arrive. If `feed.changes` has failed, any other case is skipped instead,
 * because that failure shows that the product misses changes even without a fault or a stop.
 *
 * @param toReason builds the reason from the ids of the first missing bookings and the number of missing changes
 */
export async function gradeMissedBookings(
  run: Run,
  name: CaseName,
  toReason: (ids: string, count: number) => string,
): Promise<Results> {
  const isUsual = run.certification.cases.some(
    (one) => one.name === 'feed.changes' && one.status === 'failed',
  )
  if (isUsual && name !== 'feed.changes')
    return {
      [name]: skipped(
        'Cannot be judged while changes are missed even without a fault or a stop; see `feed.changes`',
      ),
    }
  const { missing } = await arrivals(run)
  const shown = missing.slice(0, 5).map(({ id }) => id)
  const because = toReason(`${shown.join(', ')}${missing.length > shown.length ? ', …' : ''}`, missing.length)
  return { [name]: failed(because, requestsTo(run, feedRoute)) }
}

type Held = CertificationState['bookings'][number]

/** Maximum number of problems reported for a state. */
const shownProblems = 5

/**
 * Judges the bookings that a product holds. This is possible only once, and only while `next` asks for them (decisions
 * §25). Each delivered booking must match its last delivery, so a product with filters needs only the bookings that
 * match its filters. A cancelled booking may be missing, and additional bookings are allowed.
 *
 * @returns the certification with the problems found
 * @throws DomainError `conflict` if the state is not requested or has already been judged
 */
export async function judgeState(
  { db }: SandboxContext,
  certification: Certification,
  bookings: Held[],
): Promise<Certification> {
  const { step, next, _id } = certification
  if (!step || next?.action !== 'upload_state' || step.memo.judged)
    throw new DomainError('conflict', 'The state is not requested now; see `next`')
  const problems = compare(await findDeliveries(db, _id), bookings)
  const judged = await recordProblems(db, _id, step.id, problems.slice(0, shownProblems))
  if (!judged) throw new DomainError('conflict', 'The certification has moved on to another step')
  return judged
}

/** Returns the differences between the delivered and the held bookings, as sentences for the partner. */
function compare(deliveries: DeliveredVersion[], bookings: Held[]): string[] {
  const last = new Map(deliveries.map((delivery) => [delivery.booking_id, delivery]))
  const held = new Map(bookings.map((booking) => [Number(booking.booking_id), booking]))
  const problems: string[] = []
  for (const booking of last.values()) {
    const { booking_id, status } = booking
    const found = held.get(booking_id)
    if (!found) {
      if (status !== 'cancelled') problems.push(`Booking ${booking_id} is missing; its status is ${status}`)
      continue
    }
    for (const field of ['status', 'checkin_at', 'checkout_at'] as const)
      if (found[field] !== booking[field])
        problems.push(
          `Booking ${booking_id} has \`${field}\` ${found[field]}, but was last delivered with ${booking[field]}`,
        )
  }
  return problems
}
