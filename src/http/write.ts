import { currentTraceparent } from '../core/trace.ts'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { inTransaction, type Traced } from '../platform/mongo/turns/transactions.ts'

/** A kind of write, which is declared once beside its feature. */
export type Write<App, Input, Request, Result> =
  | SharedWrite<App, Input, Request, Result>
  | SingleWrite<App, Input, Request, Result>

/** What happens before the turn of a write. */
interface Preparation<App, Input, Request> {
  /** Name of the queue in which the writers of the same documents take turns. One queue has writes of one owner only. */
  queue(ownerId: number, request: Request): string
  /**
   * Reads and checks everything that needs no transaction. Changes nothing but takes ids, because it may run for a request
   * that is refused or repeated: what it returns or throws is then thrown away, and its ids leave gaps.
   */
  prepare(app: App, ownerId: number, input: Input): Promise<Request>
}

/** What happens just before the turn of a write, once nothing but the write itself can refuse it. */
interface Ensuring<App, Request> {
  /** Creates what the transaction must find and what stays if it fails, such as a lock. */
  ensure?(app: App, ownerId: number, request: Request): Promise<void>
}

/** Writes that share a transaction if they wait for the same turn. */
export interface SharedWrite<App, Input, Request, Result>
  extends Preparation<App, Input, Request>,
    Ensuring<App, Request> {
  isShared: true
  /**
   * Writes requests within a transaction and returns one result for each, in order. Each request must be judged as if
   * those before it had already been written. If one of them fails, all fail. May run more than once.
   */
  write(app: App, session: Session, ownerId: number, requests: Traced<Request>[]): Promise<Result[]>
}

/** Writes of which each has a transaction of its own, for which it waits in its queue. */
export interface SingleWrite<App, Input, Request, Result>
  extends Preparation<App, Input, Request>,
    Ensuring<App, Request> {
  isShared: false
  /** Writes a request within a transaction. May run more than once. */
  write(app: App, session: Session, ownerId: number, request: Traced<Request>): Promise<Result>
}

/** What a feature declares; each of its functions names what it needs of the app. */
type Declared<W extends { write: unknown }, Preparing, Creating, Input, Request> = Preparation<
  Preparing,
  Input,
  Request
> &
  Ensuring<Creating, Request> &
  Pick<W, 'write'>

/**
 * Declares writes that share a transaction if they wait for the same turn. Right for small writes that many of a host's
 * requests send at once, such as bookings: each turn ends with a commit, which one write would otherwise have to itself.
 */
export function batch<Preparing, Creating, Writing, Input, Request, Result>(
  declared: Declared<SharedWrite<Writing, Input, Request, Result>, Preparing, Creating, Input, Request>,
): SharedWrite<Preparing & Creating & Writing, Input, Request, Result> {
  return { ...declared, isShared: true }
}

/**
 * Declares writes of which each has a transaction of its own, for which it waits in its queue. Right for writes that rarely
 * meet, and for those of which one already takes long.
 */
export function single<Preparing, Creating, Writing, Input, Request, Result>(
  declared: Declared<SingleWrite<Writing, Input, Request, Result>, Preparing, Creating, Input, Request>,
): SingleWrite<Preparing & Creating & Writing, Input, Request, Result> {
  return { ...declared, isShared: false }
}

/**
 * Prepares a write that no route declares as its answer, such as one of a scenario or of the demo data.
 *
 * @returns the name of its queue, and the function that writes within a transaction
 */
export async function prepareWrite<App, Input, Request, Result>(
  app: App,
  declared: Write<App, Input, Request, Result>,
  ownerId: number,
  input: Input,
): Promise<{ queue: string; write: (session: Session) => Promise<Result> }> {
  const request = await declared.prepare(app, ownerId, input)
  await declared.ensure?.(app, ownerId, request)
  return {
    queue: declared.queue(ownerId, request),
    async write(session) {
      const traced = { ...request, trace: currentTraceparent() }
      if (!declared.isShared) return declared.write(app, session, ownerId, traced)
      const [result] = await declared.write(app, session, ownerId, [traced])
      return result as Result
    },
  }
}

/**
 * Prepares a write that no route declares as its answer, such as a guest's reply in the sandbox, and carries it out in a
 * transaction of its own.
 */
export async function carryOut<App extends { db: Db }, Input, Request, Result>(
  app: App,
  declared: Write<App, Input, Request, Result>,
  ownerId: number,
  input: Input,
): Promise<Result> {
  const { queue, write } = await prepareWrite(app, declared, ownerId, input)
  return inTransaction(app.db, queue, write)
}
