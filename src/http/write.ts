import { currentTraceparent } from '../core/trace.ts'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { inTransaction, type Traced } from '../platform/mongo/turns/transactions.ts'

/** A kind of write, which is declared once beside its feature. */
export interface Write<App, Input, Request, Result> {
  /** False if each write has a transaction of its own, even if others wait for the same turn. */
  isShared: boolean
  /** Name of the queue in which the writers of the same documents take turns. One queue has writes of one owner only. */
  queue(ownerId: number, request: Request): string
  /** Reads and checks everything that needs no transaction. */
  prepare(app: App, ownerId: number, input: Input): Promise<Request>
  /**
   * Writes requests within a transaction and returns one result for each, in order. Each request must be judged as if
   * those before it had already been written. If one of them fails, all fail. May run more than once.
   */
  write(app: App, session: Session, ownerId: number, requests: Traced<Request>[]): Promise<Result[]>
}

/** What a feature declares; `prepare` and `write` each name what they need of the app. */
interface Declared<Preparing, Writing, Input, Request, Result>
  extends Pick<Write<Preparing, Input, Request, Result>, 'queue' | 'prepare'>,
    Pick<Write<Writing, Input, Request, Result>, 'write'> {}

/** Declares writes that share a transaction if they wait for the same turn. */
export function batch<Preparing, Writing, Input, Request, Result>(
  declared: Declared<Preparing, Writing, Input, Request, Result>,
): Write<Preparing & Writing, Input, Request, Result> {
  return { ...declared, isShared: true }
}

/** Declares writes of which each has a transaction of its own. */
export function alone<Preparing, Writing, Input, Request, Result>({
  write,
  ...declared
}: Omit<Declared<Preparing, Writing, Input, Request, Result>, 'write'> & {
  write(app: Writing, session: Session, ownerId: number, request: Traced<Request>): Promise<Result>
}): Write<Preparing & Writing, Input, Request, Result> {
  return {
    ...declared,
    isShared: false,
    write: async (app, session, ownerId, requests) => {
      const results: Result[] = []
      for (const request of requests) results.push(await write(app, session, ownerId, request))
      return results
    },
  }
}

/**
 * Prepares a write that no request asks for, such as one of a scenario or of the demo data.
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
  return {
    queue: declared.queue(ownerId, request),
    async write(session) {
      const traced = { ...request, trace: currentTraceparent() }
      const [result] = await declared.write(app, session, ownerId, [traced])
      return result as Result
    },
  }
}

/** Prepares a write that no request asks for, and carries it out in a transaction of its own. */
export async function carryOut<App extends { db: Db }, Input, Request, Result>(
  app: App,
  declared: Write<App, Input, Request, Result>,
  ownerId: number,
  input: Input,
): Promise<Result> {
  const { queue, write } = await prepareWrite(app, declared, ownerId, input)
  return inTransaction(app.db, queue, write)
}
