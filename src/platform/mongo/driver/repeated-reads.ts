import { mongo } from 'mongoose'
import { isRepeatable } from '../errors.ts'

/*
 * Repeats reads whose server went away. Without this, a read that is in flight when the primary steps down or dies
 * would fail with a 500, although it changes nothing and requests are promised to wait for an election (operations,
 * MongoDB).
 *
 * The driver itself repeats a command once. That is not enough if the next server goes away too, and a cursor's later
 * batches are never repeated, because they can only be read again from the start.
 */

/** A read that fails within this time is repeated. Each attempt has the time limits of any read. */
const repeatForMilliseconds = 5000
const pauseMilliseconds = 50

type Read = (this: object, ...parameters: unknown[]) => Promise<unknown>

/**
 * Runs a read, and repeats it if its server went away.
 *
 * @param rewind prepares the next attempt
 */
export async function repeatRead<T>(attempt: () => Promise<T>, rewind = () => {}): Promise<T> {
  const end = performance.now() + repeatForMilliseconds
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRepeatable(error) || performance.now() >= end) throw error
    }
    await Bun.sleep(pauseMilliseconds)
    rewind()
  }
}

/** Makes every read through the driver repeatable, except in a transaction, which is repeated as a whole. */
export function makeReadsRepeatable(): void {
  // The last parameter of each of these methods takes the options.
  for (const name of ['findOne', 'countDocuments', 'estimatedDocumentCount', 'distinct'])
    replaceRead(mongo.Collection.prototype, name, (parameters) => parameters.at(-1))
  // All lists, including those of mongoose, are read with this method.
  replaceRead(mongo.AbstractCursor.prototype, 'toArray', (_, cursor) => cursor)
}

/** @param holderOf returns the object that may have the read's session */
function replaceRead(
  prototype: object,
  name: string,
  holderOf: (parameters: unknown[], self: object) => unknown,
): void {
  const read: Read = Reflect.get(prototype, name)
  const value: Read = function (...parameters) {
    const attempt = () => read.apply(this, parameters)
    const rewind = () => {
      if (this instanceof mongo.AbstractCursor) this.rewind()
    }
    return isInTransaction(holderOf(parameters, this)) ? attempt() : repeatRead(attempt, rewind)
  }
  Object.defineProperty(prototype, name, { value, writable: true, configurable: true })
}

function isInTransaction(holder: unknown): boolean {
  const { session } = Object(holder)
  return session instanceof mongo.ClientSession && session.inTransaction()
}
