import { AsyncLocalStorage } from 'node:async_hooks'
import { DomainError } from '../../core/errors.ts'
import { currentTraceparent, inSpan } from '../../core/trace.ts'
import { queueTimeoutMilliseconds, transactionTimeoutMilliseconds } from '../time-limits.ts'
import type { Db, Session } from './connection.ts'
import { isDuplicate } from './errors.ts'
import { inTransaction, runTransaction, takeTurn, type UnitOfWork } from './transactions.ts'

/**
 * Changes that wait for the same turn are written as one list.
 *
 * The writers of a host take turns, and each turn ends with a commit that a majority must acknowledge. Without batches,
 * one turn would make only one change, and the partners of a busy host would wait several times as long.
 *
 *     a change ──> the waiting batch of its queue and kind ──> its turn: one transaction ──> each change's own result
 *                                                                   │
 *                                                          a change is refused
 *                                                                   └──> one transaction for each change
 *
 * A change joins a batch only until the batch's turn comes. One that meets nobody is a batch of one.
 */

/** A prepared change that may be written together with others. */
export interface BatchedWork<Request, Result> {
  /** The queue's name, which is the same for all writers of the same documents. */
  queue: string
  /**
   * Changes of the same kind in the same queue share batches, and the `write` of a batch's first change writes all of
   * them. So changes may only be of the same kind if their `write`s do the same. Null if each is written alone.
   */
  kind: string | null
  request: Request
  /**
   * Writes the requests within the transaction and returns one result for each, in order. Each request must be judged
   * as if those before it had already been written. If one of them fails, all fail. May run more than once.
   */
  write(session: Session, requests: Traced<Request>[]): Promise<Result[]>
}

/** A request and the `traceparent` of its own change, because the batch may run in the trace of another change. */
export type Traced<Request> = Request & { trace: string | null }

/** Returns a unit of work as a change that is always written alone. */
export function alone<T>({ queue, run }: UnitOfWork<T>): BatchedWork<object, T> {
  return { queue, kind: null, request: {}, write: async (session) => [await run(session)] }
}

/** Writes a change alone, within a transaction that the caller has begun. */
export async function writeAlone<Request, Result>(
  session: Session,
  { request, write }: BatchedWork<Request, Result>,
): Promise<Result> {
  const [result] = await write(session, [{ ...request, trace: currentTraceparent() }])
  return result as Result
}

/**
 * Writes a change in a transaction, together with the changes of its kind that wait for the same turn, and returns its
 * result once a majority has acknowledged the commit. A change never fails because another one was refused, and takes
 * no longer than it could have taken alone.
 *
 * @throws DomainError `conflict` with a retry time if the wait for the turn or for conflicting writers takes too long
 */
export function runInBatch<Request, Result>(db: Db, work: BatchedWork<Request, Result>): Promise<Result> {
  const { kind, queue } = work
  if (kind === null) return inTransaction(db, queue, (session) => writeAlone(session, work))
  return inSpan('transaction', () => {
    const member: Member<Request, Result> = {
      work,
      request: { ...work.request, trace: currentTraceparent() },
      writeAlone: AsyncLocalStorage.bind((session) => writeAlone(session, work)),
      outcome: Promise.withResolvers(),
      endsAt: Date.now() + queueTimeoutMilliseconds + transactionTimeoutMilliseconds,
    }
    const name = `${db.name}/${queue}/${kind}`
    const batch = waiting.get(name) as Member<Request, Result>[] | undefined
    if (batch && batch.length < maxMembers) batch.push(member)
    else void openBatch(db, name, member)
    return member.outcome.promise
  })
}

/** Maximum number of changes in a batch, so that its transaction takes no longer than a single long change. */
const maxMembers = 8
/** The batches whose turn has not come yet. */
const waiting = new Map<string, object[]>()

/** A change in a batch, and the promise of its result. */
interface Member<Request, Result> {
  work: BatchedWork<Request, Result>
  request: Traced<Request>
  /** Writes only this change, in its own trace. */
  writeAlone: (session: Session) => Promise<Result>
  outcome: PromiseWithResolvers<Result>
  /** Time by which the change would have ended in a transaction of its own, in milliseconds since 1970. */
  endsAt: number
}

/** Opens a batch with its first member, and writes it when its turn comes. */
async function openBatch<Request, Result>(
  db: Db,
  name: string,
  first: Member<Request, Result>,
): Promise<void> {
  const members = [first]
  const { queue, write } = first.work
  const close = () => {
    if (waiting.get(name) === members) waiting.delete(name)
  }
  waiting.set(name, members)
  try {
    await takeTurn(db, queue, async () => {
      close()
      await writeTogether(db, write, members)
    })
  } catch (error) {
    close()
    for (const { outcome } of members) outcome.reject(error)
  }
}

/** Writes a batch in one transaction or, if one of its changes is refused, each change in its own. */
async function writeTogether<Request, Result>(
  db: Db,
  write: BatchedWork<Request, Result>['write'],
  members: Member<Request, Result>[],
): Promise<void> {
  const requests = members.map(({ request }) => request)
  try {
    const results = await runTransaction(db, (session) => write(session, requests))
    for (const [index, { outcome }] of members.entries()) outcome.resolve(results[index] as Result)
  } catch (error) {
    if (members.length === 1 || !isRefusal(error)) throw error
    for (const { writeAlone, endsAt, outcome } of members)
      await runTransaction(db, writeAlone, endsAt).then(outcome.resolve, outcome.reject)
  }
}

/** True if a change itself was refused; false for a failure of the database, which concerns all changes. */
function isRefusal(error: unknown): boolean {
  return isDuplicate(error) || (error instanceof DomainError && error.retryAfterSeconds === undefined)
}
