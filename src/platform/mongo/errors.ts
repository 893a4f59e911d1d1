import mongoose from 'mongoose'
import { DomainError } from '../../core/errors.ts'
import { TimeoutError } from '../time-limits.ts'

/** Other requests kept changing the same data, or this writer's turn did not come in time. */
export function busy(): DomainError {
  return new DomainError('conflict', 'Another request is changing the same data; try again', [], 1)
}

const { mongo } = mongoose
const unreachable = [
  mongo.MongoNetworkError,
  mongo.MongoServerSelectionError,
  TimeoutError,
  mongo.MongoWriteConcernError,
]

/** What a server responds with that is no primary any more, is not one yet, or shuts down (drivers' specification). */
const leaving = new Set<unknown>([91, 189, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436])
/** Labels of errors that a driver tries again, for as long as it may. */
const passing = ['TransientTransactionError', 'RetryableWriteError']

/** True when the database could not be reached, or was lost on the way: the same request may succeed soon. */
export function isUnreachable(error: unknown): boolean {
  if (unreachable.some((kind) => error instanceof kind) || isNamed(error, 'MongoWaitQueueTimeoutError'))
    return true
  return (
    error instanceof mongo.MongoServerError &&
    (leaving.has(error.code) || passing.some((label) => error.hasErrorLabel(label)))
  )
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name
}

/** True when a collection does not exist. */
export function isMissingNamespace(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 26
}

/** True when an index does not exist. */
export function isMissingIndex(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 27
}

/** True when a write violated a unique index. */
export function isDuplicate(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 11000
}

/**
 * Repeats an upsert that fails because another one has just inserted the same document: its next attempt finds it.
 * Not for use in a transaction, which such a failure ends.
 */
export async function retryDuplicate<T>(upsert: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await upsert()
    } catch (error) {
      if (!isDuplicate(error)) throw error
    }
  }
}

/**
 * Runs a bulk of inserts, or of upserts that leave alone what has their batch already: what is stored already fails as
 * another document with the same id, and that is all there is to know.
 *
 * @throws the error itself unless all single failures are of this kind
 */
export async function ignoreDuplicates(bulk: () => Promise<unknown>): Promise<void> {
  try {
    await bulk()
  } catch (error) {
    const failures = failedWrites(error)
    if (failures.length === 0 || failures.some((failure) => !isDuplicate(failure))) throw error
  }
}

/** True when a write violated the unique index of this name. */
export function breaksUniqueIndex(error: unknown, index: string): boolean {
  return isDuplicate(error) && (error as Error).message.includes(`index: ${index} `)
}

/**
 * The writes of a bulk that failed while others succeeded, by their index.
 *
 * @throws the error itself unless it is about single writes
 */
export function failedWrites(error: unknown): { index: number; code: unknown; message: string }[] {
  if (!(error instanceof mongo.MongoBulkWriteError)) throw error
  return [error.writeErrors]
    .flat()
    .map(({ index, code, errmsg }) => ({ index, code, message: errmsg ?? error.message }))
}
