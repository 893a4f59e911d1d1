/** Error with which {@link withTimeout} rejects when an operation takes too long. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

const graceMilliseconds = 20

/**
 * Settles like `operation`, or rejects with a TimeoutError if it takes longer than `milliseconds`. Time during which
 * this process itself was busy does not count, so a response that arrived before the limit passed is still read.
 */
export async function withTimeout<T>(operation: Promise<T>, milliseconds: number): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new TimeoutError(`No response within ${milliseconds} ms`))
  let timer = setTimeout(() => {
    timer = setTimeout(giveUp, graceMilliseconds)
  }, milliseconds)
  operation.catch(() => {})
  try {
    return await Promise.race([operation, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Like {@link withTimeout}, but resolves with null if the operation fails or takes too long. */
export function withTimeoutOrNull<T>(operation: Promise<T>, milliseconds: number): Promise<T | null> {
  return withTimeout(operation, milliseconds).catch(() => null)
}

/**
 * Shares one call to `load` among all callers within a period, so that clients without a key cannot cause more calls by
 * sending more requests. A call that has failed is not shared with later callers.
 */
export function cacheFor<T>(milliseconds: number, load: () => Promise<T>): () => Promise<T> {
  let last: { at: number; answer: Promise<T> } | undefined
  return () => {
    if (last && performance.now() - last.at <= milliseconds) return last.answer
    const fresh = { at: performance.now(), answer: load() }
    last = fresh
    fresh.answer.catch(() => {
      if (last === fresh) last = undefined
    })
    return fresh.answer
  }
}

/**
 * Time limits on database operations, so that no request hangs. Their sum stays below the 30 s that the command line
 * and most HTTP clients wait.
 */
/** Limit for a majority of the replica set to acknowledge a write. */
export const majorityTimeoutMilliseconds = 4000
/** Limit for a transaction, including all its attempts. */
export const transactionTimeoutMilliseconds = 7000
/** Limit on a writer's wait for its turn within this process. */
export const queueTimeoutMilliseconds = 6000
