import { AsyncLocalStorage } from 'node:async_hooks'
import mongoose from 'mongoose'
import { DomainError } from '../../../core/errors.ts'
import { currentTraceparent, inSpan } from '../../../core/trace.ts'
import { KeyedQueue } from '../../keyed-queue.ts'
import {
  majorityTimeoutMilliseconds,
  queueTimeoutMilliseconds,
  transactionTimeoutMilliseconds,
  withTimeout,
} from '../../time-limits.ts'
import { type Db, type Session, timeLimitOn } from '../connection.ts'
import { repeatRead } from '../driver/repeated-reads.ts'
import { busy, isDuplicate, isPoolFull } from '../errors.ts'

/*
 * The service has three doors into a transaction. (Administrators' commands have one of their own, `inAmbientTransaction`,
 * which none of the limits below applies to.)
 *
 *   Writer (http/writer.ts)     for what a request asks for and its route declares. A response that is stored is stored in
 *                               the same transaction. Writes that may share a turn go through `Batches`, all others
 *                               through `inTransaction`.
 *   inTransaction               for every other change, such as a job's, a scenario's or that of a calendar's reading
 *   inSnapshot                  for several reads that must see one state
 *
 * All of them read from one snapshot, and return once a majority has acknowledged the commit.
 */

/**
 * Runs `work` in one transaction and returns its result once a majority has acknowledged the commit. The right door for a
 * change that is no route's declared write.
 *
 * Writers of the same document must pass the same `queue`, so that they take turns within this process. Writers in
 * different processes may conflict, in which case the loser is retried after a short pause. `work` may therefore run
 * more than once. It must only read and write through its session, because anything else that it awaits could itself be
 * waiting for this transaction.
 *
 * @throws DomainError `conflict` with a retry time if the wait in the queue or the conflicts last longer than 6 s
 */
export function inTransaction<T>(db: Db, queue: string, work: (session: Session) => Promise<T>): Promise<T> {
  return inSpan('transaction', async () => {
    const endTurn = await takeTurn(db, queue)
    return runTransaction(db, work).finally(endTurn)
  })
}

/**
 * Runs multiple reads on one snapshot of the database. The right door for reads that must fit together. The snapshot
 * excludes later commits and contains only data that a majority has acknowledged. Keep the reads short, as in any
 * transaction.
 */
export function inSnapshot<T>(db: Db, read: (session: Session) => Promise<T>): Promise<T> {
  return inSpan('snapshot', () => repeatRead(() => runTransaction(db, read)))
}

/** A request and the `traceparent` of its own change, because the batch may run in the trace of another change. */
export type Traced<Request> = Request & { trace: string | null }

/**
 * Writes requests within a transaction and returns one result for each, in order. Each request must be judged as if those
 * before it had already been written. If one of them fails, all fail. May run more than once.
 *
 * @param shared what all changes in a queue have in common
 */
export type WriteTogether<Shared, Request, Result> = (
  session: Session,
  shared: Shared,
  requests: Traced<Request>[],
) => Promise<Result[]>

/** A change that waits for its turn. */
export interface BatchedChange<Shared, Request> {
  /** The queue's name, which is the same for all writers of the same documents. */
  queue: string
  /** The same for all changes in the queue. */
  shared: Shared
  request: Request
}

/** Maximum number of changes in a batch, so that its transaction takes no longer than a single long change. */
const maxMembers = 8

/**
 * Changes of one kind that wait for the same turn are written as one list.
 *
 * The writers of a host take turns, and each turn ends with a commit that a majority must acknowledge. Without batches,
 * one turn would make only one change, and the partners of a busy host would wait several times as long.
 *
 *     a change ──> the waiting batch of its queue ──> its turn: one transaction ──> each change's own result
 *                                                          │
 *                                                 a change is refused
 *                                                          └──> one transaction for each change
 *
 * A change joins a batch only until the batch's turn comes. One that meets nobody is a batch of one.
 *
 * Only the pipeline's writer uses it.
 */
export class Batches<Shared, Request, Result> {
  /** The batches whose turn has not come yet, by queue. */
  private readonly waiting = new Map<string, Batch<Shared, Request, Result>>()

  constructor(
    private readonly db: Db,
    private readonly writeRequests: WriteTogether<Shared, Request, Result>,
  ) {}

  /**
   * Writes a change in a transaction, together with those that wait for the same turn, and returns its result once a
   * majority has acknowledged the commit. A change never fails because another one was refused, and takes no longer than
   * it could have taken alone.
   *
   * @throws DomainError `conflict` with a retry time if the wait for the turn or for conflicting writers takes too long
   */
  run({ queue, shared, request }: BatchedChange<Shared, Request>): Promise<Result> {
    return inSpan('transaction', () => {
      const traced = { ...request, trace: currentTraceparent() }
      const member: Member<Request, Result> = {
        request: traced,
        writeOnItsOwn: AsyncLocalStorage.bind(async (session: Session) => {
          const [result] = await this.writeRequests(session, shared, [traced])
          return result as Result
        }),
        outcome: Promise.withResolvers(),
        endsAt: Date.now() + timeLimitOn(this.db, queueTimeoutMilliseconds + transactionTimeoutMilliseconds),
      }
      const batch = this.waiting.get(queue)
      if (batch && batch.members.length < maxMembers) batch.members.push(member)
      else void this.open(queue, { shared, members: [member] })
      return member.outcome.promise
    })
  }

  /** Opens a batch with its first member, and writes it when its turn comes. */
  private async open(queue: string, batch: Batch<Shared, Request, Result>): Promise<void> {
    const close = () => {
      if (this.waiting.get(queue) === batch) this.waiting.delete(queue)
    }
    this.waiting.set(queue, batch)
    try {
      const endTurn = await takeTurn(this.db, queue).finally(close)
      await this.writeTogether(batch).finally(endTurn)
    } catch (error) {
      for (const { outcome } of batch.members) outcome.reject(error)
    }
  }

  /** Writes a batch in one transaction or, if one of its changes is refused, each change in its own. */
  private async writeTogether({ shared, members }: Batch<Shared, Request, Result>): Promise<void> {
    const requests = members.map(({ request }) => request)
    try {
      const results = await runTransaction(this.db, (session) =>
        this.writeRequests(session, shared, requests),
      )
      for (const [index, { outcome }] of members.entries()) outcome.resolve(results[index] as Result)
    } catch (error) {
      if (members.length === 1 || !isRefusal(error)) throw error
      for (const { writeOnItsOwn, endsAt, outcome } of members)
        await runTransaction(this.db, writeOnItsOwn, endsAt).then(outcome.resolve, outcome.reject)
    }
  }
}

/** Changes that will be written together. */
interface Batch<Shared, Request, Result> {
  shared: Shared
  members: Member<Request, Result>[]
}

/** A change in a batch, and the promise of its result. */
interface Member<Request, Result> {
  request: Traced<Request>
  /** Writes only this change, in its own trace. */
  writeOnItsOwn: (session: Session) => Promise<Result>
  outcome: PromiseWithResolvers<Result>
  /** Time by which the change would have ended in a transaction of its own, in milliseconds since 1970. */
  endsAt: number
}

/** True if a change itself was refused; false for a failure of the database, which concerns all changes. */
function isRefusal(error: unknown): boolean {
  return isDuplicate(error) || (error instanceof DomainError && error.retryAfterSeconds === undefined)
}

/** The queues of each database connection, in which its writers take turns within this process. */
const queues = new WeakMap<Db, KeyedQueue>()

/**
 * Waits until all earlier work in the same queue of this process has ended. The returned function ends the turn.
 *
 * @throws DomainError `conflict` with a retry time if the wait lasts longer than 6 s
 */
function takeTurn(db: Db, queue: string): Promise<() => void> {
  const ofDb = queues.get(db) ?? new KeyedQueue(timeLimitOn(db, queueTimeoutMilliseconds), busy)
  queues.set(db, ofDb)
  return ofDb.takeTurn(queue)
}

/**
 * Runs `work` in one transaction, without waiting in a queue; see {@link inTransaction}.
 *
 * @param latestEnd time after which the transaction is no longer awaited, in milliseconds since 1970; retries stop 1 s
 * earlier
 */
async function runTransaction<T>(
  db: Db,
  work: (session: Session) => Promise<T>,
  latestEnd = Number.POSITIVE_INFINITY,
): Promise<T> {
  const end = Math.min(Date.now() + timeLimitOn(db, transactionTimeoutMilliseconds), latestEnd)
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
      writeConcern: {
        w: 'majority',
        journal: true,
        wtimeoutMS: timeLimitOn(db, majorityTimeoutMilliseconds),
      },
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

function pause(attempt: number): Promise<void> {
  return Bun.sleep(Math.random() * Math.min(100, 2 ** attempt))
}
