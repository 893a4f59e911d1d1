import type { Clock } from '../clock.ts'
import { moveClocksAhead } from '../host-clock/store.ts'
import { sequenceNames } from '../ids.ts'
import { moveSequencesAhead } from '../platform/ids/sequences.ts'
import type { Db } from '../platform/mongo/connection.ts'

/** How far a restored database is moved ahead. */
export interface Distance {
  /** Seconds by which versions go ahead of the clock: more than the changes that any host can have made since the backup. */
  seconds: number
  /** Ids left out of each sequence: more than can have been given out since the backup. */
  ids: number
}

/** What was moved ahead. */
export interface MovedAhead {
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
 */
export async function moveAhead(db: Db, clock: Clock, { seconds, ids }: Distance): Promise<MovedAhead> {
  const now = clock()
  const { clocks, last } = await moveClocksAhead(db, now, seconds)
  return {
    clocks,
    versions_after: last,
    sequences: await moveSequencesAhead(db, sequenceNames, ids),
  }
}
