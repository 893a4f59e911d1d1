import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { recordAction } from '../../../src/access/audit/store.ts'
import { type Clock, systemClock } from '../../../src/core/clock.ts'
import { type Config, readConfig } from '../../../src/core/config.ts'
import { maximumSkewSeconds } from '../../../src/core/skew.ts'
import { type IdSource, sequenceIds } from '../../../src/http/ids.ts'
import { measureSkew } from '../../../src/platform/mongo/clock-watch.ts'
import type { Db, Session } from '../../../src/platform/mongo/connection.ts'
import { inAmbientTransaction } from '../../../src/platform/mongo/transactions.ts'
import { type Opening, openDatabase } from '../../../src/process/open.ts'

/** What an administrator's command works on. */
export interface Administration {
  db: Db
  clock: Clock
  config: Config
  ids: IdSource
}

/** Opens the database of `MONGODB_URL` or `DATA_DIR` for one command and closes it again. */
export async function withDatabase<T>(
  work: (administration: Administration) => Promise<T>,
  opening: Opening = {},
): Promise<T> {
  // Redis is only notified of changes, and few commands need the secret.
  const config = readConfig(process.env, ['MONGODB_URL'])
  if (!config.mongodbUrl) requireData(config.dataDir)
  const database = await openDatabase(config, { isPatient: true, ...opening })
  try {
    return await work({ db: database.db, clock: systemClock, config, ids: sequenceIds(database.db) })
  } finally {
    await database.close()
  }
}

/** @throws Error for a folder without a database: the command would make an empty one there, and not see the service's */
function requireData(dataDir: string): void {
  if (!existsSync(join(dataDir, 'mongodb')))
    throw new Error(`There is no database in ${dataDir}: set DATA_DIR or MONGODB_URL as for the service`)
}

/** @throws Error when this machine would write wrong dates */
function requireSoundClock(skewSeconds: number): void {
  if (Math.abs(skewSeconds) > maximumSkewSeconds)
    throw new Error(
      `The clock of this machine is ${skewSeconds.toFixed(0)} s off the database's: nothing was changed`,
    )
}

/** How the audit entry of a command is written. */
export interface Recording {
  /**
   * `with` the action, in one transaction that all its writes join; by the action `itself`, which calls `record` in its
   * transaction, or `together`; `before` an action of many transactions.
   */
  record?: 'with' | 'itself' | 'before'
}

/** What a command that changes something works on. */
export interface Act extends Administration {
  /** Writes the audit entry of an action on a host's data in the action's own transaction. */
  record(session: Session, hostId: number): Promise<void>
  /** Changes a host's data in one transaction with its audit entry; every model operation of `change` joins it. */
  together<T>(hostId: number, change: () => Promise<T>): Promise<T>
}

/**
 * {@link withDatabase} for a command that changes something, of hosts and keys unless it says `itself`: no action is
 * without its audit entry, and no entry without its action (except that of `before`, whose action may then fail). `work`
 * may run more than once, and prints nothing.
 */
export async function administer<T>(
  action: string,
  target: string,
  work: (act: Act) => Promise<T>,
  { record = 'with' }: Recording = {},
): Promise<T> {
  return withDatabase(async (administration) => {
    const { db, clock } = administration
    requireSoundClock(await measureSkew(db))
    const write = (session: Session | null, host_id: number | null) =>
      recordAction(db, { host_id, at: clock(), action, target }, session)
    const together = <R>(host_id: number | null, change: () => Promise<R>) =>
      inAmbientTransaction(db, async (session) => {
        const done = await change()
        await write(session, host_id)
        return done
      })
    const act: Act = { ...administration, record: write, together }
    if (record === 'before') await write(null, null)
    return record === 'with' ? together(null, () => work(act)) : work(act)
  })
}
