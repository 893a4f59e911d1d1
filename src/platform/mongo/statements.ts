import { setImmediate } from 'node:timers/promises'
import type { Db, Session } from './connection.ts'

/**
 * Lets changes that share a transaction (see `transactions.ts`) send their statements together. Otherwise, eight
 * bookings that share one commit would still send eight times as many commands as one booking, and a busy host's
 * partners would wait for all of them.
 */

/**
 * Sends one command for several changes at once; takes one item per change. Returns one result per item, in order, or
 * an empty list if the command has no results.
 */
export type Statement<Item, Result> = (db: Db, session: Session, items: Item[]) => Promise<Result[]>

/** Error thrown by a statement if the changes cannot run in step, because one depends on another's result. */
export class DependentChangesError extends Error {
  override readonly name = 'DependentChangesError'
}

/** The statement queues of transactions with two or more changes in step. */
const queues = new WeakMap<Session, StatementQueue>()

/**
 * Runs a statement for one change. If changes that share a transaction reach the same statement together, it is sent as
 * one command. If the command fails, all of these changes fail.
 */
export async function runBatched<Item, Result>(
  db: Db,
  session: Session,
  statement: Statement<Item, Result>,
  item: Item,
): Promise<Result> {
  const queue = queues.get(session)
  if (queue) return queue.add(db, session, statement, item)
  const [result] = await statement(db, session, [item])
  return result as Result
}

/**
 * Runs changes in step within one transaction and returns their results. The function returns only after every change
 * has settled, because a statement that is still running would interfere with the transaction's next attempt.
 *
 * @throws the error of the first change that failed
 */
export async function runInStep(
  session: Session,
  changes: ((session: Session) => Promise<unknown>)[],
): Promise<unknown[]> {
  if (changes.length <= 1) return Promise.all(changes.map((change) => change(session)))
  queues.set(session, new StatementQueue())
  try {
    const ended = await Promise.allSettled(changes.map((change) => change(session)))
    const failed = ended.find(({ status }) => status === 'rejected')
    if (failed) throw (failed as PromiseRejectedResult).reason
    return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value)
  } finally {
    queues.delete(session)
  }
}

interface Call {
  item: unknown
  outcome: PromiseWithResolvers<unknown>
}

/** Sends one statement at a time, because a transaction allows no concurrent commands. */
class StatementQueue {
  private readonly waiting = new Map<Statement<never, unknown>, Call[]>()
  private isRunning = false

  add<Item, Result>(
    db: Db,
    session: Session,
    statement: Statement<Item, Result>,
    item: Item,
  ): Promise<Result> {
    const call: Call = { item, outcome: Promise.withResolvers() }
    const calls = this.waiting.get(statement)
    if (calls) calls.push(call)
    else this.waiting.set(statement, [call])
    if (!this.isRunning) void this.run(db, session)
    return call.outcome.promise as Promise<Result>
  }

  private async run(db: Db, session: Session): Promise<void> {
    this.isRunning = true
    for (;;) {
      // Changes in step reach their next statement within the same turn of the event loop.
      await setImmediate()
      const [next] = this.waiting
      if (!next) break
      const [statement, calls] = next
      this.waiting.delete(statement)
      await send(db, session, statement, calls)
    }
    this.isRunning = false
  }
}

async function send(
  db: Db,
  session: Session,
  statement: Statement<never, unknown>,
  calls: Call[],
): Promise<void> {
  try {
    const results = await statement(db, session, calls.map(({ item }) => item) as never[])
    for (const [index, { outcome }] of calls.entries()) outcome.resolve(results[index])
  } catch (error) {
    for (const { outcome } of calls) outcome.reject(error)
  }
}
