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
/** The reads of the feed since the step began. */
export const reads = (run: Run) => ofOperation(run, route)

/** How long nothing must come for a stop. */
function silenceOf({ bounds, certification: { pace } }: Run): number {
  return Math.min(bounds.longestSilence, Math.max(bounds.silence, 2 * pace))
}

/** True when the product has not read for so long that it has stopped. */
export function isSilent(run: Run): boolean {
  return run.now.getTime() - lastAnswered(reads(run), run.playedAt) >= silenceOf(run)
}

/** Stores where the versions are before a step plays. */
export const rememberClock: NonNullable<CourseStep['prepare']> = async ({ app, hostId }) => ({
  after: await readHostClock(app.db, hostId),
})

/** The bookings whose present version the product has been given. */
export function delivered({ app, certification }: Run, wanted: BookingChange[]): Promise<BookingChange[]> {
  return findDelivered(app.db, certification._id, wanted)
}

/** Which of the changes since the step began have arrived. */
export async function arrivals(run: Run) {
  const wanted = await wantedAfter(run, run.memo.after as Date)
  const arrived = await delivered(run, wanted)
  const missing = wanted.filter((booking) => !arrived.includes(booking))
  return { wanted, arrived, missing, isComplete: wanted.length > 0 && missing.length === 0 }
}

/** Fails a case because bookings did not arrive; skips it where no changes do, whatever happens to them. */
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

/** So many reads from the beginning are overlooked. */
export const maxBeginnings = 2

/** Reads of the feed from its beginning since the first sync. */
export async function beginnings({ certification, recordsAfter, bounds }: Run): Promise<RequestRecord[]> {
  const { synced_after, started_at } = certification
  const records = withoutRepetitions(await recordsAfter(synced_after ?? 0), bounds.runtime)
  return records.filter((record) => record.operation === route && isFromBeginning(record, started_at))
}
