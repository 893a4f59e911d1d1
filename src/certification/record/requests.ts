import type { RequestRecord } from './model.ts'

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

/** Returns true if the response reached the product and was not an error. */
export function hasSucceeded(record: Pick<RequestRecord, 'fault' | 'status'>): boolean {
  return !isLost(record) && record.status < 300
}

/** Returns the first request that was refused with 422 and whose response reached the product. */
export function firstRefused(records: RequestRecord[]): RequestRecord | undefined {
  return records.find((record) => record.status === 422 && !isLost(record))
}

/** Returns true if the product cannot have received the handler's whole response. */
function isLost({ fault }: Pick<RequestRecord, 'fault'>): boolean {
  return fault !== null && fault !== 'slow'
}

/** Reading from a position this long before the certification's start counts as reading from the beginning. */
const beginningToleranceMilliseconds = 2 * 86_400_000

/** Returns true if a request read the feed's first page and started at the beginning of the feed. */
export function isFromBeginning({ is_page, is_first, from }: RequestRecord, startedAt: Date): boolean {
  const beginningCutoff = startedAt.getTime() - beginningToleranceMilliseconds
  return is_page && is_first && (from === null || from.getTime() < beginningCutoff)
}
