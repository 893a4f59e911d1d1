import { AsyncLocalStorage } from 'node:async_hooks'
import { DomainError } from '../../../core/errors.ts'
import { currentTraceparent, inSpan } from '../../../core/trace.ts'
import { queueTimeoutMilliseconds, transactionTimeoutMilliseconds } from '../../time-limits.ts'
import type { Db, Session } from '../connection.ts'
import { isDuplicate } from '../errors.ts'
import { runTransaction, takeTurn } from './transactions.ts'

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
 */
export class Batches<Shared, Request, Result> {
  /** The batches whose turn has not come yet, by queue. */
  private readonly waiting = new Map<string, Batch<Shared, Request, Result>>()

  constructor(
    private readonly db: Db,
    private readonly write: WriteTogether<Shared, Request, Result>,
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
          const [result] = await this.write(session, shared, [traced])
          return result as Result
        }),
        outcome: Promise.withResolvers(),
        endsAt: Date.now() + queueTimeoutMilliseconds + transactionTimeoutMilliseconds,
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
      await takeTurn(this.db, queue, async () => {
        close()
        await this.writeTogether(batch)
      })
    } catch (error) {
      close()
      for (const { outcome } of batch.members) outcome.reject(error)
    }
  }

  /** Writes a batch in one transaction or, if one of its changes is refused, each change in its own. */
  private async writeTogether({ shared, members }: Batch<Shared, Request, Result>): Promise<void> {
    const requests = members.map(({ request }) => request)
    try {
      const results = await runTransaction(this.db, (session) => this.write(session, shared, requests))
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
