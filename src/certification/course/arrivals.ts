import { findChanges } from '../../stays/bookings/store.ts'
import { feedRoute } from '../record/recording.ts'
import { findDelivered } from '../record/store.ts'
import type { CaseName } from './cases.ts'
import { requestsTo } from './grading.ts'
import { failed, type PlayedRun, passed, type Results, type Run, type StepFindings, skipped } from './step.ts'

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
export async function syncProgress(run: Pick<Run, 'app' | 'certification'>) {
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
export async function arrivals(run: Pick<Run, 'app' | 'certification'>) {
  const { _id, facts, step } = run.certification
  const changed = await changesAfter(run, step.memo.after)
  const wanted = changed.filter(({ listing_id }) => facts.listings?.includes(listing_id) ?? true)
  const arrived = await findDelivered(run.app.db, _id, wanted)
  const missing = wanted.filter((booking) => !arrived.includes(booking))
  return { arrived, missing, isComplete: wanted.length > 0 && missing.length === 0 }
}

/** Returns the bookings changed since the step began that the product has yet to read. */
export const missingArrivals = async (run: Pick<Run, 'app' | 'certification'>) =>
  (await arrivals(run)).missing

/** Passes a case once all changes since the step began have arrived. */
export async function checkArrivals(run: PlayedRun, name: CaseName): Promise<StepFindings> {
  const { arrived, isComplete } = await arrivals(run)
  return isComplete ? { isDone: true, results: { [name]: passed } } : { progress: arrived.length }
}

/**
 * Fails a case because bookings did not arrive. If `feed.changes` has failed, any other case is skipped instead,
 * because that failure shows that the product misses changes even without a fault or a stop.
 *
 * @param toReason builds the reason from the ids of the first missing bookings and the number of missing changes
 */
export async function gradeMissedBookings(
  run: PlayedRun,
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
  return { [name]: failed(because, requestsTo(run.records, feedRoute)) }
}

/** A limit above the number of bookings that a sandbox can hold. */
const allBookings = 10_000

/** Returns the current state of all bookings changed after a version, or of all bookings if `after` is null. */
export function changesAfter({ app, certification }: Pick<Run, 'app' | 'certification'>, after: Date | null) {
  const owner = { owner_id: certification.sandbox_id }
  return findChanges(app.db, owner, after, { skip: 0, limit: allBookings })
}
