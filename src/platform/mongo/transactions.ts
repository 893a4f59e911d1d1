import AsyncLock from 'async-lock'
import mongoose from 'mongoose'
import { withTimeout } from '../timeout.ts'
import type { Db, Session } from './connection.ts'
import { busy } from './errors.ts'
import {
  majorityTimeoutMilliseconds,
  queueTimeoutMilliseconds,
  transactionTimeoutMilliseconds,
} from './limits.ts'

const queues = new AsyncLock({ timeout: queueTimeoutMilliseconds, maxPending: 10_000 })

/**
 * Runs `work` in one transaction and returns its result once a majority has acknowledged it.
 *
 * Writers of the same document pass the same `queue` and take turns within this process; writers in several processes
 * run into write conflicts, and the loser starts over after a short pause. So `work` may run more than once, and does
 * nothing but read and write through its session: anything else it waited for could be waiting for this transaction.
 *
 * @throws DomainError `conflict` with a retry time when the turn does not come within 6 s
 */
export async function inTransaction<T>(
  db: Db,
  queue: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  try {
    return await queues.acquire(`${db.name}/${queue}`, () => runTransaction(db, work))
  } catch (error) {
    if (error instanceof Error && /^async-lock timed out|^Too many pending/.test(error.message)) throw busy()
    throw error
  }
}

/** A change that is ready to be made: everything that can be read and checked beforehand has been. */
export interface UnitOfWork<T> {
  /** Writers that touch the same documents name the same queue. */
  queue: string
  /** Makes the change within the transaction; may run more than once. */
  run(session: Session): Promise<T>
}

/** Makes a prepared change, see {@link inTransaction}. */
export function carryOut<T>(db: Db, { queue, run }: UnitOfWork<T>): Promise<T> {
  return inTransaction(db, queue, run)
}

/**
 * Runs several reads on one snapshot of the database: what commits meanwhile is not seen. Keep it short, like every
 * transaction; what it reads has been acknowledged by a majority.
 */
export function inSnapshot<T>(db: Db, read: (session: Session) => Promise<T>): Promise<T> {
  return runTransaction(db, read)
}

async function runTransaction<T>(db: Db, work: (session: Session) => Promise<T>): Promise<T> {
  const deadline = Date.now() + transactionTimeoutMilliseconds - 1000
  const session = await db.startSession()
  let attempt = 0
  const tries = session.withTransaction(
    async () => {
      if (attempt > 0) await pause(attempt)
      if (Date.now() > deadline) throw busy()
      attempt += 1
      return work(session)
    },
    {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: majorityTimeoutMilliseconds },
      readPreference: 'primary',
    },
  )
  try {
    return await withTimeout(tries, transactionTimeoutMilliseconds)
  } finally {
    // Not awaited: an open transaction is aborted, and a driver that keeps trying finds its session ended.
    session.endSession().catch(() => {})
  }
}

/**
 * Runs `work` in one transaction, which every model operation in it joins automatically: for administrative actions. A
 * transaction opened within does not join. `work` may run more than once.
 */
export async function inAmbientTransaction<T>(db: Db, work: (session: Session) => Promise<T>): Promise<T> {
  mongoose.set('transactionAsyncLocalStorage', true)
  return db.transaction(work)
}

function pause(attempt: number): Promise<void> {
  return Bun.sleep(Math.random() * Math.min(100, 2 ** attempt))
}
