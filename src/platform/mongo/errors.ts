import mongoose from 'mongoose'
import { DomainError } from '../../core/errors.ts'
import { TimeoutError } from '../time-limits.ts'

/** Returns the error for a request that concurrent ones kept from finishing, for example by changing the same data. */
export function busy(): DomainError {
  return new DomainError('conflict', 'Concurrent requests kept this one from finishing; try again', [], 1)
}

const { mongo } = mongoose
const unreachable = [
  mongo.MongoNetworkError,
  mongo.MongoServerSelectionError,
  TimeoutError,
  mongo.MongoWriteConcernError,
]

/**
 * Error codes of a server that is not primary, is shutting down or has just become primary (134), as listed in the
 * MongoDB driver specifications.
 */
const notPrimaryCodes = new Set<unknown>([91, 134, 189, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436])
/** Error codes of a cursor that its server no longer has. */
const lostCursorCodes = new Set<unknown>([43, 237])
/** Labels of errors that the driver retries until a time limit. */
const transientLabels = ['TransientTransactionError', 'RetryableWriteError']

/** True if the database was unreachable or the connection was lost. The same request may soon succeed. */
export function isUnreachable(error: unknown): boolean {
  if (unreachable.some((kind) => error instanceof kind)) return true
  return (
    error instanceof mongo.MongoServerError &&
    (notPrimaryCodes.has(error.code) || transientLabels.some((label) => error.hasErrorLabel(label)))
  )
}

/**
 * True if an operation got no connection in time because other operations of this process hold all of them. The
 * database is then busy rather than gone. The driver does not export the class of this error.
 */
export function isPoolFull(error: unknown): boolean {
  return error instanceof mongo.MongoDriverError && error.name === 'MongoWaitQueueTimeoutError'
}

/** True if the same read may succeed in a moment on another server. */
export function isRepeatable(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof mongo.MongoServerError && lostCursorCodes.has(error.code))
}

/** True if the error means that a collection does not exist. */
export function isMissingNamespace(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 26
}

/** True if the error means that an index does not exist. */
export function isMissingIndex(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 27
}

/** True if a write violated a unique index. */
export function isDuplicate(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 11000
}

/**
 * Retries an upsert that fails because another upsert has just inserted the same document. The next attempt finds that
 * document. Do not use this in a transaction, because the failure aborts the transaction.
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
 * Runs a bulk write of inserts, or of upserts whose filters exclude documents that already contain the batch. A
 * repeated write fails because its id already exists, and that failure is ignored.
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
 * Returns the failed writes of a bulk write. `index` is the position of the write in the batch.
 *
 * @throws the original error unless it lists failed writes
 */
export function failedWrites(error: unknown): { index: number; code: unknown; message: string }[] {
  if (!(error instanceof mongo.MongoBulkWriteError)) throw error
  return [error.writeErrors]
    .flat()
    .map(({ index, code, errmsg }) => ({ index, code, message: errmsg ?? error.message }))
}
