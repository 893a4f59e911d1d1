/** An operation took too long. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

const graceMilliseconds = 20

/**
 * Settles like `operation`, or rejects with a TimeoutError when it takes longer than `milliseconds`. Time during which
 * this process itself was busy does not count: a response that has already arrived when the limit passes is still read.
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

/** Like {@link withTimeout}, but null when the operation fails or takes too long. */
export function withTimeoutOrNull<T>(operation: Promise<T>, milliseconds: number): Promise<T | null> {
  return withTimeout(operation, milliseconds).catch(() => null)
}

/**
 * Shares one look among all who ask within a time: what anybody may ask for without a key must cost the same however often
 * it is asked for. A look that fails is not shared any longer.
 */
export function share<T>(milliseconds: number, look: () => Promise<T>): () => Promise<T> {
  let last: { at: number; answer: Promise<T> } | undefined
  return () => {
    if (last && performance.now() - last.at <= milliseconds) return last.answer
    const fresh = { at: performance.now(), answer: look() }
    last = fresh
    fresh.answer.catch(() => {
      if (last === fresh) last = undefined
    })
    return fresh.answer
  }
}
