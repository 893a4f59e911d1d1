import type { BookingChange } from '../stays/bookings/store.ts'
import { findChanges } from '../stays/bookings/store.ts'
import type { RequestRecord } from './model.ts'
import type { Run } from './step.ts'

/** The routes whose requests a certification grades. */
export const operations = {
  feed: 'GET /sandbox/integrations/:provider/bookings',
  availability: 'POST /sandbox/integrations/:provider/availability',
  nights: 'GET /sandbox/integrations/:provider/availability/nights',
  availabilityRead: 'GET /sandbox/integrations/:provider/availability',
  book: 'POST /sandbox/bookings',
} as const

/** A limit above the number of bookings that a sandbox can hold. */
const allBookings = 10_000
/** A read from a position this long before the certification's start counts as a read from the beginning. */
const longAgoMilliseconds = 2 * 86_400_000

/**
 * Removes the retries that the product's runtime makes on its own. An equal request that arrives shortly after another
 * counts as such a retry.
 *
 * @param milliseconds time within which an equal request counts as a retry
 */
export function withoutRepetitions(records: RequestRecord[], milliseconds: number): RequestRecord[] {
  const last = new Map<string, number>()
  return records.filter((record) => {
    const { operation, body_hash, is_first, from, at } = record
    const name = [operation, body_hash, is_first, from?.getTime()].join('/')
    const before = last.get(name)
    const isRepetition = before !== undefined && at.getTime() - before < milliseconds
    // A retry that delivered a booking still counts.
    if (isRepetition && record.delivered === 0) return false
    last.set(name, at.getTime())
    return true
  })
}

/** Returns the requests to a route. */
export function ofOperation({ records }: Pick<Run, 'records'>, operation: string): RequestRecord[] {
  return records.filter((record) => record.operation === operation)
}

/** True if the product cannot have received the whole response. */
export function isLost({ fault }: Pick<RequestRecord, 'fault'>): boolean {
  return fault !== null && fault !== 'slow'
}

/** True if the response arrived and was not an error. A 304 counts as the page that it stands for. */
export function isGood(record: Pick<RequestRecord, 'fault' | 'status'>): boolean {
  return !isLost(record) && (record.status < 300 || record.status === 304)
}

/** True for a read of the feed's first page from the very beginning. */
export function isFromBeginning({ is_page, is_first, from }: RequestRecord, startedAt: Date): boolean {
  const longAgo = startedAt.getTime() - longAgoMilliseconds
  return is_page && is_first && (from === null || from.getTime() < longAgo)
}

/** Returns all bookings changed after a version, in their current state. */
export function changesAfter({ app, hostId }: Pick<Run, 'app' | 'hostId'>, after: Date | null) {
  return findChanges(app.db, { host_id: hostId }, after, { skip: 0, limit: allBookings })
}

/**
 * Returns the bookings changed after a version. A product may handle only some listings, so only the listings that the
 * first sync has read count. Before the first sync, or without one, all listings count.
 */
export async function wantedAfter(run: Run, after: Date): Promise<BookingChange[]> {
  const { listings } = run.certification.facts as { listings?: number[] }
  const wanted = await changesAfter(run, after)
  return listings ? wanted.filter(({ listing_id }) => listings.includes(listing_id)) : wanted
}

/** Returns the longest pause between the response to one read and the arrival of the next, in milliseconds. */
export function longestPause(reads: RequestRecord[]): number {
  let answered: number | null = null
  let longest = 0
  for (const { at, answered_at } of reads) {
    if (answered !== null) longest = Math.max(longest, at.getTime() - answered)
    answered = Math.max(answered ?? 0, answered_at.getTime())
  }
  return longest
}

/** Returns the time at which the last request was answered, or `since` if later, in milliseconds since 1970. */
export function lastAnswered(records: RequestRecord[], since: Date): number {
  return Math.max(since.getTime(), ...records.map(({ answered_at }) => answered_at.getTime()))
}
