/** Pauses after each failed try, in seconds (decisions §21). */
const pauses = [5, 300, 1800, 7200, 18_000, 36_000, 50_400]
const maxRetryAfterSeconds = 3600
/** An endpoint that has failed for so long is turned off. */
export const failingMilliseconds = 5 * 86_400_000

/**
 * When to try again after a try that failed; null for never.
 *
 * @param attempts tries so far
 * @param retryAfterSeconds what the response asked for
 */
export function retryAt(now: Date, attempts: number, retryAfterSeconds: number | null): Date | null {
  const pause = pauses[attempts - 1]
  if (pause === undefined) return null
  const asked = Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds)
  return new Date(now.getTime() + Math.max(pause, asked) * 1000)
}
