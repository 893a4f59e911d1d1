/** Maximum number of times that a key's sandbox may be filled within `fillsMilliseconds` (decisions §13). */
export const maxFills = 60
export const fillsMilliseconds = 600_000

/**
 * Returns the number of seconds until a key's sandbox may be filled again; 0 if it may be filled immediately.
 *
 * @param fills times of the last fills, oldest first
 */
export function secondsUntilFill(fills: Date[], now: Date): number {
  const oldestThatCounts = fills.at(-maxFills)
  if (!oldestThatCounts) return 0
  const free = oldestThatCounts.getTime() + fillsMilliseconds
  return Math.max(0, Math.ceil((free - now.getTime()) / 1000))
}
