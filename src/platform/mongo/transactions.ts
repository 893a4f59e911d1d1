import mongoose from 'mongoose'
import { DomainError } from '../../core/errors.ts'
import { withTimeout } from '../time-limits.ts'
import { Turns } from '../turns.ts'
import type { Db, Session } from './connection.ts'
import { busy, isDuplicate } from './errors.ts'
import {
  majorityTimeoutMilliseconds,
  queueTimeoutMilliseconds,
  transactionTimeoutMilliseconds,
} from './limits.ts'

const queues = new Turns(queueTimeoutMilliseconds, busy)

/**
 * Runs `work` in one transaction and returns its result once a majority has acknowledged it.
 *
 * Writers of the same document pass the same `queue` and take turns within this process; writers in several processes
 * run into write conflicts, and the loser starts over after a short pause. So `work` may run more than once, and does
 * nothing but read and write through its session: anything else it waited for could be waiting for this transaction.
 *
 * @throws DomainError `conflict` with a retry time when the turn does not come within 6 s
 */
export function inTransaction<T>(db: Db, queue: string, work: (session: Session) => Promise<T>): Promise<T> {
  return queues.take(`${db.name}/${queue}`, () => runTransaction(db, work))
}

/** A change that is ready to be made: everything that can be read and checked beforehand has been. */
export interface UnitOfWork<T> {
  /** Writers that touch the same documents name the same queue. */
  queue: string
  /** Makes the change within the transaction; may run more than once. */
  run(session: Session): Promise<T>
  /** A few statements: those that wait for the same turn share a transaction, of which the commit takes longest. */
  isShort?: boolean
}

/**
 * The same change with another result.
 *
 * @param map makes the result, and may write more within the transaction; may run more than once
 */
export function mapUnit<T, U>(
  unit: UnitOfWork<T>,
  map: (result: T, session: Session) => U | Promise<U>,
): UnitOfWork<U> {
  return { ...unit, run: async (session) => map(await unit.run(session), session) }
}

/** Makes a prepared change, see {@link inTransaction}. */
export function carryOut<T>(db: Db, { queue, run, isShort = false }: UnitOfWork<T>): Promise<T> {
  return isShort ? inSharedTransaction(db, queue, run) : inTransaction(db, queue, run)
}

/** So many share a transaction: it stays as short as one of the longer ones. */
const maxShared = 8
/** Those that wait for their turn together, by queue; filled by the newest, taken by the first. */
const waiting = new Map<string, Member[]>()

/** A change in a shared transaction, and the promise of its result. */
interface Member {
  work: (session: Session) => Promise<unknown>
  outcome: PromiseWithResolvers<unknown>
}

async function inSharedTransaction<T>(
  db: Db,
  queue: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const name = `${db.name}/${queue}`
  const member: Member = { work, outcome: Promise.withResolvers<unknown>() }
  const others = waiting.get(name)
  if (others && others.length < maxShared) others.push(member)
  else {
    const members = [member]
    waiting.set(name, members)
    const close = () => {
      if (waiting.get(name) === members) waiting.delete(name)
    }
    queues
      .take(name, () => {
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

/** One after the other in one transaction; where one of them fails, each in its own, so that none fails for another. */
async function runTogether(db: Db, members: Member[]): Promise<void> {
  try {
    const results = await runTransaction(db, async (session) => {
      const done: unknown[] = []
      for (const { work } of members) done.push(await work(session))
      return done
    })
    for (const [index, { outcome }] of members.entries()) outcome.resolve(results[index])
  } catch (error) {
    if (members.length === 1 || !isItsOwn(error)) throw error
    for (const { work, outcome } of members)
      await runTransaction(db, work).then(outcome.resolve, outcome.reject)
  }
}

/** True for what the work of one of them is refused for, and not for what the database cannot do for any. */
function isItsOwn(error: unknown): boolean {
  return isDuplicate(error) || (error instanceof DomainError && error.retryAfterSeconds === undefined)
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
