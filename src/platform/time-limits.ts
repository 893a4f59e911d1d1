/** Error thrown by {@link withTimeout} if an operation takes too long. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

const graceMilliseconds = 20

/**
 * Settles like `operation`, or rejects with a {@link TimeoutError} if `operation` takes longer than `milliseconds`. The
 * error is delayed by a short grace period, so that a response that arrived in time is still read if this process was
 * busy.
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

/** Like {@link withTimeout}, but resolves to null if the operation fails or takes too long. */
export function withTimeoutOrNull<T>(operation: Promise<T>, milliseconds: number): Promise<T | null> {
  return withTimeout(operation, milliseconds).catch(() => null)
}

/**
 * Caches `load` for `milliseconds`, so that a flood of requests from clients without a key costs one call. A failure is
 * not cached.
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
/** Time limit for a majority of the replica set to acknowledge a write. */
export const majorityTimeoutMilliseconds = 4000
/** Time limit for a transaction, including all its attempts. */
export const transactionTimeoutMilliseconds = 7000
/** Time limit for a writer to wait for other writers in this process. */
export const queueTimeoutMilliseconds = 6000

/** The longest time that a timer takes, almost 25 days. It stands for no limit. */
export const longestTimerMilliseconds = 2 ** 31 - 1
