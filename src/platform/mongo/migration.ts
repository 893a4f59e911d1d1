import type { Db } from './connection.ts'

/** A step from one version of what is stored to the next. */
export interface Migration {
  /** The version afterwards: one more than before. */
  version: number
  /** A description, for example `Add the host to stored responses`. */
  name: string
  /** How many documents it still has to change. */
  remaining(db: Db): Promise<number>
  /**
   * Changes them. It may be interrupted, run again and run in several processes, and the release before serves
   * meanwhile: so it only adds what that release does not look at.
   */
  run(db: Db): Promise<void>
  /** Indexes that only the release before needs, by collection; dropped when the migration is finished. */
  retiredIndexes: Record<string, string[]>
}
