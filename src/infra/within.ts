/** The answer, or an error when it takes too long; a late answer is nobody's. */
export async function within<T>(answer: Promise<T>, milliseconds: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No answer within ${milliseconds} ms`)), milliseconds)
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
