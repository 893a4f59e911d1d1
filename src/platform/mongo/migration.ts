import type { Db } from './connection.ts'

/** A step from one version of the stored data to the next. */
export interface Migration {
  /** The version after the step, one higher than before. */
  version: number
  /** A description, such as `Add the host to stored responses`. */
  name: string
  /** Counts the documents that the migration still has to change. */
  remaining(db: Db): Promise<number>
  /**
   * Changes the remaining documents. It may be interrupted, run again and run in several processes. The previous
   * release keeps serving meanwhile, so a migration only adds data that the previous release ignores.
   */
  run(db: Db): Promise<void>
  /** Names of indexes that only the previous release needs, by collection; dropped once the migration is finished. */
  retiredIndexes: Record<string, string[]>
}
