import type { Clock } from '../core/clock.ts'
import { sequenceNames } from '../http/ids.ts'
import { moveSequencesAhead, raiseSequences, readSequences } from '../platform/ids/sequences.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { moveClocksAhead, readLatestVersion } from '../versions/host-clock-store.ts'

/** How far a restored database's versions and ids are moved ahead. */
export interface Distance {
  /** Seconds to move versions ahead of the clock; must exceed any host's number of changes since the backup. */
  seconds: number
  /** Ids skipped in each sequence; must exceed the number of ids that may have been assigned since the backup. */
  ids: number
}

/** The highest ids and versions that a database has assigned. */
export interface HighWaterMarks {
  /** The latest version of any host. */
  version: Date
  /** The last id of each sequence. */
  ids: Record<string, number>
}

/** Reads the highest ids and versions that a database has assigned. */
export async function readHighWaterMarks(db: Db): Promise<HighWaterMarks> {
  return { version: await readLatestVersion(db), ids: await readSequences(db) }
}

/** The result of skipping ahead. */
export interface SkippedPast {
  /** Number of hosts whose versions were moved ahead. */
  clocks: number
  /** Every host's next change gets a version after this one. */
  versions_after: Date
  /** The last skipped id of each sequence. */
  sequences: Record<string, number>
}

/**
 * Makes a database that was restored from a backup safe to serve. Data written after the backup is gone, but partners
 * know its ids and versions. Afterwards, no id is reused, and every change gets a version higher than any that a poller
 * may have seen, so no poller misses a change. Call this before the first process starts.
 *
 * @param before the highest ids and versions of the replaced database, if known
 */
export async function skipPast(
  db: Db,
  clock: Clock,
  { seconds, ids }: Distance,
  before?: HighWaterMarks,
): Promise<SkippedPast> {
  const from = new Date(Math.max(clock().getTime(), before?.version.getTime() ?? 0))
  const { clocks, last } = await moveClocksAhead(db, from, seconds)
  if (before) await raiseSequences(db, sequenceNames, before.ids)
  return { clocks, versions_after: last, sequences: await moveSequencesAhead(db, sequenceNames, ids) }
}
