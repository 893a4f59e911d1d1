import mongoose from 'mongoose'
import { inSpan } from '../../../core/trace.ts'
import { KeyedQueue } from '../../keyed-queue.ts'
import {
  majorityTimeoutMilliseconds,
  queueTimeoutMilliseconds,
  transactionTimeoutMilliseconds,
  withTimeout,
} from '../../time-limits.ts'
import type { Db, Session } from '../connection.ts'
import { repeatRead } from '../driver/repeated-reads.ts'
import { busy, isPoolFull } from '../errors.ts'

/** The queues of each database connection, in which its writers take turns within this process. */
const queues = new WeakMap<Db, KeyedQueue>()

/**
 * Runs `work` in one transaction and returns its result once a majority has acknowledged the commit. The right door for a
 * write that no request waits for, and for one whose response is not stored. A route's declared write goes through its
 * `Writer` (http/idempotency), and several reads of one state through {@link inSnapshot}.
 *
 * Writers of the same document must pass the same `queue`, so that they take turns within this process. Writers in
 * different processes may conflict, in which case the loser is retried after a short pause. `work` may therefore run
 * more than once. It must only read and write through its session, because anything else that it awaits could itself be
 * waiting for this transaction.
 *
 * @throws DomainError `conflict` with a retry time if the wait in the queue or the conflicts last longer than 6 s
 */
export function inTransaction<T>(db: Db, queue: string, work: (session: Session) => Promise<T>): Promise<T> {
  return inSpan('transaction', () => takeTurn(db, queue, () => runTransaction(db, work)))
}

/**
 * Runs `work` when all earlier work in the same queue of this process has ended.
 *
 * @throws DomainError `conflict` with a retry time if the wait lasts longer than 6 s
 */
export function takeTurn<T>(db: Db, queue: string, work: () => Promise<T>): Promise<T> {
  const ofDb = queues.get(db) ?? new KeyedQueue(queueTimeoutMilliseconds, busy)
  queues.set(db, ofDb)
  return ofDb.run(queue, work)
}

/**
 * Runs multiple reads on one snapshot of the database. The snapshot excludes later commits and contains only data that
 * a majority has acknowledged. Keep the reads short, as in any transaction.
 */
export function inSnapshot<T>(db: Db, read: (session: Session) => Promise<T>): Promise<T> {
  return inSpan('snapshot', () => repeatRead(() => runTransaction(db, read)))
}

/**
 * Runs `work` in one transaction, without waiting in a queue; see {@link inTransaction}.
 *
 * @param latestEnd time after which the transaction is no longer awaited, in milliseconds since 1970; retries stop 1 s
 * earlier
 */
export async function runTransaction<T>(
  db: Db,
  work: (session: Session) => Promise<T>,
  latestEnd = Number.POSITIVE_INFINITY,
): Promise<T> {
  const end = Math.min(Date.now() + transactionTimeoutMilliseconds, latestEnd)
  const deadline = end - 1000
  const session = await db.startSession()
  const starved = Promise.withResolvers<never>()
  let attempt = 0
  const tries = session.withTransaction(
    async () => {
      if (attempt > 0) await pause(attempt)
      if (Date.now() > deadline) throw busy()
      attempt += 1
      return work(session).catch((error) => {
        // The driver would first wait as long again for a connection on which to abort the transaction.
        if (isPoolFull(error)) starved.reject(error)
        return rethrowTransient(error)
      })
    },
    {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: majorityTimeoutMilliseconds },
      readPreference: 'primary',
    },
  )
  try {
    return await withTimeout(Promise.race([tries, starved.promise]), end - Date.now())
  } finally {
    // This is not awaited. It aborts any open transaction, and ends the session even if the driver is still retrying.
    session.endSession().catch(() => {})
  }
}

/**
 * Rethrows an error of a transaction's work, marked so that the driver repeats the work if the connection was lost. The
 * driver itself marks errors of commands, but not those of connections that break while they are being opened. Without
 * the mark, work that begins while the primary steps down would fail at once.
 */
function rethrowTransient(error: unknown): never {
  if (error instanceof mongoose.mongo.MongoNetworkError) error.addErrorLabel('TransientTransactionError')
  throw error
}

/**
 * Runs an administrative action in one transaction. Every model operation in `work` joins it automatically, but a
 * transaction opened within `work` does not. `work` may run more than once.
 */
export async function inAmbientTransaction<T>(db: Db, work: (session: Session) => Promise<T>): Promise<T> {
  mongoose.set('transactionAsyncLocalStorage', true)
  return db.transaction(work)
}

function pause(attempt: number): Promise<void> {
  return Bun.sleep(Math.random() * Math.min(100, 2 ** attempt))
}
