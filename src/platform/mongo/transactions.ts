import { AsyncLocalStorage } from 'node:async_hooks'
import mongoose from 'mongoose'
import { DomainError } from '../../core/errors.ts'
import { inSpan } from '../../core/trace.ts'
import { KeyedQueue } from '../keyed-queue.ts'
import {
  majorityTimeoutMilliseconds,
  queueTimeoutMilliseconds,
  transactionTimeoutMilliseconds,
  withTimeout,
} from '../time-limits.ts'
import type { Db, Session } from './connection.ts'
import { busy, isDuplicate } from './errors.ts'
import { repeatRead } from './repeated-reads.ts'
import { DependentChangesError, runInStep } from './statements.ts'

const queues = new KeyedQueue(queueTimeoutMilliseconds, busy)

/**
 * Runs `work` in one transaction and returns its result once a majority has acknowledged the commit.
 *
 * Writers of the same document must pass the same `queue`, so that they take turns within this process. Writers in
 * different processes may conflict, in which case the loser is retried after a short pause. `work` may therefore run
 * more than once. It must only read and write through its session, because anything else that it awaits could itself be
 * waiting for this transaction.
 *
 * @throws DomainError `conflict` with a retry time if the wait in the queue or the conflicts last longer than 6 s
 */
export function inTransaction<T>(db: Db, queue: string, work: (session: Session) => Promise<T>): Promise<T> {
  return inSpan('transaction', () => queues.run(`${db.name}/${queue}`, () => runTransaction(db, work)))
}

/** A prepared change. All reads and checks that need no transaction have been completed. */
export interface UnitOfWork<T> {
  /** The queue's name, which is the same for all writers of the same documents. */
  queue: string
  /** Applies the change within the transaction. It may run more than once. */
  run(session: Session): Promise<T>
  /**
   * How this change shares a transaction, and thus its slow commit, with others in the same queue. With `in turn`,
   * changes run one after another, because each must see the previous one's writes. With `in step`, changes also share
   * their statements, so each statement must go through `runBatched()` and account for the other changes. A change with
   * many statements omits `shares` and gets its own transaction.
   */
  shares?: 'in turn' | 'in step'
}

/**
 * Returns the same change with a different result.
 *
 * @param map returns the new result and may also write within the transaction; may run more than once
 */
export function mapUnit<T, U>(
  unit: UnitOfWork<T>,
  map: (result: T, session: Session) => U | Promise<U>,
): UnitOfWork<U> {
  return { ...unit, run: async (session) => map(await unit.run(session), session) }
}

/** Runs a prepared change in a transaction; see {@link inTransaction}. */
export function runUnit<T>(db: Db, unit: UnitOfWork<T>): Promise<T> {
  if (!unit.shares) return inTransaction(db, unit.queue, unit.run)
  return inSpan('transaction', () => inSharedTransaction(db, unit))
}

/** Maximum number of changes in a shared transaction, so that it takes no longer than a single long change. */
const maxShared = 8
/** Groups of changes that will share a transaction, by queue. Changes can join a group until its transaction starts. */
const waiting = new Map<string, Member[]>()

/** A change in a shared transaction, and the promise of its result. */
interface Member {
  unit: UnitOfWork<unknown>
  outcome: PromiseWithResolvers<unknown>
  /** Time by which the change would have finished in its own transaction, in milliseconds since 1970. */
  endsAt: number
}

async function inSharedTransaction<T>(db: Db, unit: UnitOfWork<T>): Promise<T> {
  const name = `${db.name}/${unit.queue}`
  const endsAt = Date.now() + queueTimeoutMilliseconds + transactionTimeoutMilliseconds
  // Another member may start the transaction, but each change must stay in its own trace.
  const run = AsyncLocalStorage.bind(unit.run)
  const member: Member = { unit: { ...unit, run }, outcome: Promise.withResolvers<unknown>(), endsAt }
  const others = waiting.get(name)
  if (others && others.length < maxShared) others.push(member)
  else {
    const members = [member]
    waiting.set(name, members)
    const close = () => {
      if (waiting.get(name) === members) waiting.delete(name)
    }
    queues
      .run(name, () => {
        close()
        return runTogether(db, members)
      })
      .catch((error) => {
        close()
        for (const { outcome } of members) outcome.reject(error)
      })
  }
  return member.outcome.promise as Promise<T>
}

/**
 * Runs the members' changes in one transaction. If one change fails for a reason of its own, each change is retried in
 * its own transaction, so that no change fails because of another one. No change may take longer than it could have
 * taken on its own. A database failure fails all changes.
 */
async function runTogether(db: Db, members: Member[]): Promise<void> {
  const inStep = members.filter(({ unit }) => unit.shares === 'in step')
  const inTurn = members.filter(({ unit }) => unit.shares === 'in turn')
  try {
    const results = await runTransaction(db, async (session) => {
      const changes = inStep.map(({ unit }) => unit.run)
      const done = await runInStep(session, changes)
      for (const { unit } of inTurn) done.push(await unit.run(session))
      return done
    })
    for (const [index, { outcome }] of [...inStep, ...inTurn].entries()) outcome.resolve(results[index])
  } catch (error) {
    if (members.length === 1 || !isMemberError(error)) throw error
    for (const { unit, outcome, endsAt } of members)
      await runTransaction(db, unit.run, endsAt).then(outcome.resolve, outcome.reject)
  }
}

/** True if a member's own work caused the error; false for a database failure, which affects all members. */
function isMemberError(error: unknown): boolean {
  return (
    isDuplicate(error) ||
    error instanceof DependentChangesError ||
    (error instanceof DomainError && error.retryAfterSeconds === undefined)
  )
}

/**
 * Runs multiple reads on one snapshot of the database. The snapshot excludes later commits and contains only data that
 * a majority has acknowledged. Keep the reads short, as in any transaction.
 */
export function inSnapshot<T>(db: Db, read: (session: Session) => Promise<T>): Promise<T> {
  return inSpan('snapshot', () => repeatRead(() => runTransaction(db, read)))
}

/**
 * @param latestEnd time after which the transaction is no longer awaited, in milliseconds since 1970; retries stop 1 s
 * earlier
 */
async function runTransaction<T>(
  db: Db,
  work: (session: Session) => Promise<T>,
  latestEnd = Number.POSITIVE_INFINITY,
): Promise<T> {
  const end = Math.min(Date.now() + transactionTimeoutMilliseconds, latestEnd)
  const deadline = end - 1000
  const session = await db.startSession()
  let attempt = 0
  const tries = session.withTransaction(
    async () => {
      if (attempt > 0) await pause(attempt)
      if (Date.now() > deadline) throw busy()
      attempt += 1
      return work(session).catch(rethrowTransient)
    },
    {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: majorityTimeoutMilliseconds },
      readPreference: 'primary',
    },
  )
  try {
    return await withTimeout(tries, end - Date.now())
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
