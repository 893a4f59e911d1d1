import type { Clock } from '../core/clock.ts'
import { moveClocksAhead, readLatestVersion } from '../host-clock/store.ts'
import { sequenceNames } from '../http/ids.ts'
import { clearAsOf } from '../inventory/availability/store.ts'
import { moveSequencesAhead, raiseSequences, readSequences } from '../platform/ids/sequences.ts'
import type { Db } from '../platform/mongo/connection.ts'

/** How far to move a restored database's versions and ids ahead. */
export interface SkipDistance {
  /** Seconds to move versions ahead of the clock; must exceed any host's number of changes since the backup. */
  seconds: number
  /** Number of ids to skip in each sequence; must exceed the number that may have been assigned since the backup. */
  ids: number
}

/** The highest ids and versions that a database has assigned. */
export interface HighWaterMarks {
  /** The latest version assigned to any host. */
  version: Date
  /** The last assigned id of each sequence, by name. */
  ids: Record<string, number>
}

/** Reads the highest ids and versions that a database has assigned. */
export async function readHighWaterMarks(db: Db): Promise<HighWaterMarks> {
  return { version: await readLatestVersion(db), ids: await readSequences(db) }
}

/** The result of {@link skipPast}. */
export interface SkipResult {
  /** Number of hosts whose versions were moved ahead. */
  clocks: number
  /** Every host's next change gets a version later than this one. */
  versions_after: Date
  /** The last skipped id of each sequence, by name. */
  sequences: Record<string, number>
}

/**
 * Makes a restored database safe to serve. Data written after the backup is lost, but partners still know its ids and
 * versions. This function moves ids and versions ahead, so that no id is reused and every new change gets a higher
 * version than any that a poller may have seen. No poller therefore misses a change. It also clears the `as_of` of all
 * availability, because partners know other versions than those that were stored (decisions §8). Call this before the first process
 * starts.
 *
 * @param before the highest ids and versions of the replaced database, if known
 */
export async function skipPast(
  db: Db,
  clock: Clock,
  { seconds, ids }: SkipDistance,
  before?: HighWaterMarks,
): Promise<SkipResult> {
  const from = new Date(Math.max(clock().getTime(), before?.version.getTime() ?? 0))
  const { clocks, last } = await moveClocksAhead(db, from, seconds)
  await clearAsOf(db)
  if (before) await raiseSequences(db, sequenceNames, before.ids)
  return { clocks, versions_after: last, sequences: await moveSequencesAhead(db, sequenceNames, ids) }
}
