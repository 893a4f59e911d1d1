/**
 * Seconds to wait before the next request of a long walk, from the `RateLimit` headers of the last answer, so
 * that the limit is never met: none while half of it is left, then the more the less is left.
 */
export function pauseFor(headers: Headers): number {
  const [, quota, window] = /q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? []
  const [, remaining] = /r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  if (quota === undefined || window === undefined || remaining === undefined) return 0
  if (Number(remaining) > Number(quota) / 2) return 0
  return Number(window) / (Number(remaining) + 1)
}
