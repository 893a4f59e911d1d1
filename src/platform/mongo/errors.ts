import mongoose from 'mongoose'
import { DomainError } from '../../core/errors.ts'
import { TimeoutError } from '../time-limits.ts'

/** Returns the error for a writer that kept losing to concurrent writers or waited too long for its turn. */
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

/** Error codes of a server that is not yet or no longer primary, or is shutting down (drivers' specification). */
const notPrimaryCodes = new Set<unknown>([91, 189, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436])
/** Labels of errors that a driver retries until its time limit. */
const transientLabels = ['TransientTransactionError', 'RetryableWriteError']

/** True if the database was unreachable or the connection was lost. The same request may succeed soon. */
export function isUnreachable(error: unknown): boolean {
  if (unreachable.some((kind) => error instanceof kind) || isNamed(error, 'MongoWaitQueueTimeoutError'))
    return true
  return (
    error instanceof mongo.MongoServerError &&
    (notPrimaryCodes.has(error.code) || transientLabels.some((label) => error.hasErrorLabel(label)))
  )
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name
}

/** True if the error says that a collection does not exist. */
export function isMissingNamespace(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 26
}

/** True if the error says that an index does not exist. */
export function isMissingIndex(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 27
}

/** True if a write violated a unique index. */
export function isDuplicate(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 11000
}

/**
 * Repeats an upsert that fails because another upsert has just inserted the same document. The next attempt finds the
 * document. Do not use this in a transaction, because such a failure aborts the transaction.
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
 * Runs a bulk write of inserts, or of upserts whose filters exclude documents that already contain the batch. If a
 * write is repeated, it fails because its id already exists, and that failure is ignored.
 *
 * @throws the original error unless all its failed writes are duplicates
 */
export async function ignoreDuplicates(bulk: () => Promise<unknown>): Promise<void> {
  try {
    await bulk()
  } catch (error) {
    const failures = failedWrites(error)
    if (failures.length === 0 || failures.some((failure) => !isDuplicate(failure))) throw error
  }
}

/** True if a write violated the unique index with this name. */
export function breaksUniqueIndex(error: unknown, index: string): boolean {
  return isDuplicate(error) && (error as Error).message.includes(`index: ${index} `)
}

/**
 * Returns the failed writes of a bulk write, each with its index.
 *
 * @throws the original error unless it lists failed writes
 */
export function failedWrites(error: unknown): { index: number; code: unknown; message: string }[] {
  if (!(error instanceof mongo.MongoBulkWriteError)) throw error
  return [error.writeErrors]
    .flat()
    .map(({ index, code, errmsg }) => ({ index, code, message: errmsg ?? error.message }))
}
