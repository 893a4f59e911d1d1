/** Something did not answer in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

const graceMilliseconds = 20

/**
 * The answer, or an error when it takes too long; a late answer is nobody's. Time that this process itself was
 * busy is not held against the answer: when the limit is over, what has arrived meanwhile is still read.
 */
export async function within<T>(answer: Promise<T>, milliseconds: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new TimeoutError(`No answer within ${milliseconds} ms`))
  let timer = setTimeout(() => {
    timer = setTimeout(giveUp, graceMilliseconds)
  }, milliseconds)
  answer.catch(() => {})
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The answer, or null where it fails or takes too long. */
export function soon<T>(answer: Promise<T>, milliseconds: number): Promise<T | null> {
  return within(answer, milliseconds).catch(() => null)
}
