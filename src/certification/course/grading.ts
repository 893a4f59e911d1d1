import type { RequestRecord } from '../record/model.ts'
import { hasSucceeded, isLost } from '../record/recording.ts'
import { failed, type PlayedRun, passed, type Result } from './step.ts'

/** What the records of a product's requests show. The steps' checks are made of these. */

/** Returns the records of requests to a route. */
export function requestsTo(records: RequestRecord[], operation: string): RequestRecord[] {
  return records.filter((record) => record.operation === operation)
}

/**
 * Returns the records without automatic retries by the product's runtime.
 *
 * @param milliseconds time within which a request identical to an earlier one counts as a retry
 */
export function withoutAutomaticRetries(records: RequestRecord[], milliseconds: number): RequestRecord[] {
  const last = new Map<string, number>()
  return records.filter((record) => {
    const { operation, body_hash, is_first, from, at } = record
    const name = [operation, body_hash, is_first, from?.getTime()].join('/')
    const before = last.get(name)
    const isRepetition = before !== undefined && at.getTime() - before < milliseconds
    // A retry that delivered new bookings still counts.
    if (isRepetition && record.delivered === 0) return false
    last.set(name, at.getTime())
    return true
  })
}

/** Reading from a position this long before the certification's start counts as reading from the beginning. */
const beginningToleranceMilliseconds = 2 * 86_400_000

/** Returns true if a request read the feed's first page and started at the beginning of the feed. */
export function isFromBeginning({ is_page, is_first, from }: RequestRecord, startedAt: Date): boolean {
  const beginningCutoff = startedAt.getTime() - beginningToleranceMilliseconds
  return is_page && is_first && (from === null || from.getTime() < beginningCutoff)
}

/** Returns the time by which all changes played by the step were visible. */
export function playedAt({ certification: { step } }: Pick<PlayedRun, 'certification'>): Date {
  return step.played_at ?? step.began_at
}

/** Returns true if all of a step's faults have started and ended. */
export function areFaultsOver({ faults, now }: Pick<PlayedRun, 'faults' | 'now'>): boolean {
  return faults.every(({ until }) => until !== null && until <= now)
}

/** Returns true if the step was played, its faults are over, and a request that arrived after both has succeeded. */
export function hasRecovered(run: PlayedRun, records: RequestRecord[]): boolean {
  const since = Math.max(Number(playedAt(run)), ...run.faults.map(({ until }) => Number(until)))
  return areFaultsOver(run) && records.some((record) => hasSucceeded(record) && Number(record.at) >= since)
}

/**
 * Grades how often the product got a fault after the first response with that fault. Requests already in flight at that
 * time are tolerated, and so is one further request for each of them.
 *
 * @param allowed number of further requests that are tolerated in any case
 */
export function gradeRequestsAfterFault(
  records: RequestRecord[],
  { fault, allowed, because }: { fault: string; allowed: number; because: (further: number) => string },
): Result {
  const [first, ...others] = records.filter((record) => record.fault === fault)
  const further = others.filter(({ at }) => first && at > first.answered_at)
  const inFlight = others.length - further.length
  return further.length <= inFlight + allowed ? passed : failed(because(further.length), further)
}

/** Returns the first request that was refused with 422 and whose response reached the product. */
export function firstRefused(records: RequestRecord[]): RequestRecord | undefined {
  return records.find((record) => record.status === 422 && !isLost(record))
}

/** Fails if a refused body was sent again unchanged. Returns null while the result is undecided. */
export function gradeRefusedResend(
  run: Pick<PlayedRun, 'now' | 'bounds'>,
  records: RequestRecord[],
  refused: RequestRecord | undefined,
  because: string,
): Result | null {
  const again = records.filter(
    ({ body_hash, at }) => refused && body_hash === refused.body_hash && at > refused.answered_at,
  )
  if (again.length > 0) return failed(because, again)
  return isFollowUpWindowOver(run, refused) ? passed : null
}

/**
 * Returns true if a request was answered more than `bounds.silence` ago, so any follow-up would have arrived, or if
 * there is no request.
 */
export function isFollowUpWindowOver(
  { now, bounds }: Pick<PlayedRun, 'now' | 'bounds'>,
  request: RequestRecord | undefined,
): boolean {
  return !request || Number(now) - Number(request.answered_at) > bounds.silence
}
