import { type Clock, systemClock } from '../src/clock.ts'
import { type Config, readConfig } from '../src/config.ts'
import { openDatabase } from '../src/deps.ts'
import { recordAct } from '../src/infra/audit.ts'
import type { Db } from '../src/infra/mongo.ts'
import { type IdSource, sequenceIds } from '../src/infra/sequences.ts'

/** What an administrator's command works on. */
export interface Administration {
  db: Db
  clock: Clock
  config: Config
  ids: IdSource
}

/** Opens the database of `MONGODB_URL` or `DATA_DIR` for one command and closes it again. */
export async function withDatabase<T>(work: (administration: Administration) => Promise<T>): Promise<T> {
  // Redis is only told of changes, and few commands need the secret.
  const config = readConfig(process.env, ['MONGODB_URL'])
  const database = await openDatabase(config)
  try {
    return await work({ db: database.db, clock: systemClock, config, ids: sequenceIds(database.db) })
  } finally {
    await database.close()
  }
}

/** {@link withDatabase} for a command that changes something: what was done is written into the audit. */
export async function administer(
  action: string,
  target: string,
  work: (administration: Administration) => Promise<void>,
): Promise<void> {
  await withDatabase(async (administration) => {
    await work(administration)
    await recordAct(administration.db, administration.clock(), action, target)
  })
}
