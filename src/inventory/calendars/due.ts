/*
 * When a calendar is read next (decisions §31). Pure: the time and the spread are passed in.
 */

/** Interval between good readings, in seconds. A file can lengthen it up to `maxIntervalSeconds`. */
const intervalSeconds = 15 * 60
const maxIntervalSeconds = 6 * 3600

/** Delays after the first, second, third and each later failure in a row, in seconds. */
const failureDelays = [15 * 60, 30 * 60, 3600, 2 * 3600]

/** Share of the interval by which readings are spread, so that calendars set together drift apart. */
const spreadShare = 0.1

/** Interval that a file asks for, within our bounds; null if it asks for none or for a shorter one than ours. */
export function boundedRefresh(refreshSeconds: number | null): number | null {
  if (refreshSeconds === null || refreshSeconds <= intervalSeconds) return null
  return Math.min(refreshSeconds, maxIntervalSeconds)
}

/** Interval at which a calendar is read while all is well, in seconds. */
export function intervalOf({ refresh_seconds }: { refresh_seconds: number | null }): number {
  return refresh_seconds ?? intervalSeconds
}

/**
 * Returns the time of the reading that follows a good one.
 *
 * @param spread a number from 0 to 1, at random
 */
export function dueAfterSuccess(
  now: Date,
  calendar: { refresh_seconds: number | null },
  spread: number,
): Date {
  return after(now, spreadOut(intervalOf(calendar), spread))
}

/** An attempt that failed. */
export interface Failure {
  /** Number of failures in a row, this one included. */
  failures: number
  /** What the server asked for; null if nothing. */
  retryAfterSeconds: number | null
}

/** Returns the time of the reading that follows a failed one. */
export function dueAfterFailure(now: Date, { failures, retryAfterSeconds }: Failure, spread: number): Date {
  const place = Math.min(failures, failureDelays.length) - 1
  const delay = spreadOut(failureDelays[place] ?? intervalSeconds, spread)
  const asked = Math.min(retryAfterSeconds ?? 0, maxIntervalSeconds)
  return after(now, Math.max(delay, asked))
}

function spreadOut(seconds: number, spread: number): number {
  return Math.min(seconds * (1 - spreadShare + 2 * spreadShare * spread), maxIntervalSeconds)
}

function after(now: Date, seconds: number): Date {
  return new Date(now.getTime() + Math.round(seconds * 1000))
}
