import type { Clock } from '../core/clock.ts'
import { sequenceNames } from '../http/ids.ts'
import { moveSequencesAhead, raiseSequences, readSequences } from '../platform/ids/sequences.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { moveClocksAhead, readLatestVersion } from '../versions/host-clock-store.ts'

/** How far a restored database is moved ahead. */
export interface Distance {
  /** Seconds by which versions go ahead of the clock: more than the changes that any host can have made since the backup. */
  seconds: number
  /** Ids left out of each sequence: more than can have been given out since the backup. */
  ids: number
}

/** The highest ids and versions that a database has given out. */
export interface HighWaterMarks {
  /** The latest version of any host. */
  version: Date
  /** The last id of each sequence. */
  ids: Record<string, number>
}

/** Reads the highest ids and versions that a database has given out. */
export async function readHighWaterMarks(db: Db): Promise<HighWaterMarks> {
  return { version: await readLatestVersion(db), ids: await readSequences(db) }
}

/** The result of skipping ahead. */
export interface SkippedPast {
  /** Hosts whose versions continue later. */
  clocks: number
  /** The version after which the first change of every host comes. */
  versions_after: Date
  /** The last id of each sequence that is left out. */
  sequences: Record<string, number>
}

/**
 * Makes a database that was restored from a backup safe to serve: what was written after the backup is gone, but its ids
 * and versions are known to partners. No id is given out again, and every change from now on comes after all that a
 * poller can have seen, so that none passes over it. Run it before the first process is started.
 *
 * @param before what the replaced database has given out, where that is known
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
