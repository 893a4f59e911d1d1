import type { BookingChange } from '../stays/bookings/store.ts'
import { readHostClock } from '../versions/host-clock-store.ts'
import type { CaseName } from './cases.ts'
import type { RequestRecord } from './model.ts'
import {
  isFromBeginning,
  lastAnswered,
  ofOperation,
  operations,
  wantedAfter,
  withoutRepetitions,
} from './reads.ts'
import { findDelivered } from './records-store.ts'
import type { CourseStep, Result, Run } from './step.ts'

/** The route of the feed. */
export const route = operations.feed
/** Returns the reads of the feed since the step began. */
export const reads = (run: Run) => ofOperation(run, route)

/** Returns how long the product must be silent to count as stopped, in milliseconds. */
function silenceOf({ bounds, certification: { pace } }: Run): number {
  return Math.min(bounds.longestSilence, Math.max(bounds.silence, 2 * pace))
}

/** True if the product has gone long enough without reading the feed to count as stopped. */
export function isSilent(run: Run): boolean {
  return run.now.getTime() - lastAnswered(reads(run), run.playedAt) >= silenceOf(run)
}

/** Prepares a step by storing the last version before anything is played. */
export const rememberClock: NonNullable<CourseStep['prepare']> = async ({ app, hostId }) => ({
  after: await readHostClock(app.db, hostId),
})

/** Returns the bookings whose current version has been delivered to the product. */
export function delivered({ app, certification }: Run, wanted: BookingChange[]): Promise<BookingChange[]> {
  return findDelivered(app.db, certification._id, wanted)
}

/** Returns the bookings changed since the step began, split into those that have arrived and those that are missing. */
export async function arrivals(run: Run) {
  const wanted = await wantedAfter(run, run.memo.after as Date)
  const arrived = await delivered(run, wanted)
  const missing = wanted.filter((booking) => !arrived.includes(booking))
  return { wanted, arrived, missing, isComplete: wanted.length > 0 && missing.length === 0 }
}

/**
 * Fails a case because bookings did not arrive. Skips the case instead if `feed.changes` failed, because then changes
 * do not arrive even without a fault or a stop.
 *
 * @param of builds the reason from the first missing ids and the number of missing changes
 */
export async function missed(
  run: Run,
  name: CaseName,
  of: (ids: string, count: number) => string,
): Promise<Partial<Record<CaseName, Result>>> {
  const isUsual = run.certification.cases.some(
    (one) => one.name === 'feed.changes' && one.status === 'failed',
  )
  if (isUsual && name !== 'feed.changes')
    return { [name]: { status: 'skipped', because: 'Changes do not arrive at all: see `feed.changes`' } }
  const { missing } = await arrivals(run)
  const shown = missing.slice(0, 5).map(({ id }) => id)
  const because = of(`${shown.join(', ')}${missing.length > shown.length ? ', …' : ''}`, missing.length)
  return { [name]: { status: 'failed', because, seen: reads(run) } }
}

/** Maximum number of reads from the beginning that are tolerated. */
export const maxBeginnings = 2

/** Returns the reads of the feed from its beginning since the first sync. */
export async function beginnings({ certification, recordsAfter, bounds }: Run): Promise<RequestRecord[]> {
  const { synced_after, started_at } = certification
  const records = withoutRepetitions(await recordsAfter(synced_after ?? 0), bounds.runtime)
  return records.filter((record) => record.operation === route && isFromBeginning(record, started_at))
}
