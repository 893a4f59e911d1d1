/**
 * Seconds to wait before the next page of a long sync, from the `RateLimit` headers of the last response, so that the
 * limit is never reached: none while half of it remains, then more the less remains.
 */
export function pauseFor(headers: Headers): number {
  const [, quota, window] = /q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? []
  const [, remaining] = /r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  if (quota === undefined || window === undefined || remaining === undefined) return 0
  if (Number(remaining) > Number(quota) / 2) return 0
  return Number(window) / (Number(remaining) + 1)
}
