import type { BookingChange } from '../stays/bookings/store.ts'
import { findChanges } from '../stays/bookings/store.ts'
import type { RequestRecord } from './model.ts'
import type { Run } from './step.ts'

/** The routes that a certification grades. */
export const operations = {
  feed: 'GET /sandbox/integrations/:provider/bookings',
  availability: 'POST /sandbox/integrations/:provider/availability',
  nights: 'GET /sandbox/integrations/:provider/availability/nights',
  availabilityRead: 'GET /sandbox/integrations/:provider/availability',
  book: 'POST /sandbox/bookings',
} as const

/** More bookings than a sandbox holds. */
const allBookings = 10_000
/** Who reads from longer ago than the sandbox is old by this much reads from the beginning. */
const longAgoMilliseconds = 2 * 86_400_000

/** Requests without those that the runtime repeated by itself: equal ones within a tenth of a second. */
export function withoutRepetitions(records: RequestRecord[], milliseconds: number): RequestRecord[] {
  const last = new Map<string, number>()
  return records.filter((record) => {
    const { operation, body_hash, is_first, from, at } = record
    const name = [operation, body_hash, is_first, from?.getTime()].join('/')
    const before = last.get(name)
    const isRepetition = before !== undefined && at.getTime() - before < milliseconds
    // A repetition that delivered something counts all the same.
    if (isRepetition && record.delivered === 0) return false
    last.set(name, at.getTime())
    return true
  })
}

/** The requests of a route. */
export function ofOperation({ records }: Pick<Run, 'records'>, operation: string): RequestRecord[] {
  return records.filter((record) => record.operation === operation)
}

/** True if the product cannot have received the whole response. */
export function isLost({ fault }: Pick<RequestRecord, 'fault'>): boolean {
  return fault !== null && fault !== 'slow'
}

/** True for a response that arrived, and was no error; 304 says as much as the page that it stands for. */
export function isGood(record: Pick<RequestRecord, 'fault' | 'status'>): boolean {
  return !isLost(record) && (record.status < 300 || record.status === 304)
}

/** True for a read of the first page from the very beginning. */
export function isFromBeginning(
  { is_page, is_first, is_vague, from }: RequestRecord,
  startedAt: Date,
): boolean {
  const longAgo = startedAt.getTime() - longAgoMilliseconds
  return is_page && is_first && !is_vague && (from === null || from.getTime() < longAgo)
}

/** All bookings that were changed after a version, as they are now. */
export function changesAfter({ app, hostId }: Pick<Run, 'app' | 'hostId'>, after: Date | null) {
  return findChanges(app.db, { host_id: hostId }, after, { skip: 0, limit: allBookings })
}

/**
 * Those of the listings that the first sync has shown: a product may be for some only. Before that, and without it, all.
 */
export async function wantedAfter(run: Run, after: Date): Promise<BookingChange[]> {
  const { listings } = run.certification.facts as { listings?: number[] }
  const wanted = await changesAfter(run, after)
  return listings ? wanted.filter(({ listing_id }) => listings.includes(listing_id)) : wanted
}

/** The longest pause between two reads of the feed, in milliseconds: from when one was answered to when the next came. */
export function longestPause(reads: RequestRecord[]): number {
  let answered: number | null = null
  let longest = 0
  for (const { at, answered_at } of reads) {
    if (answered !== null) longest = Math.max(longest, at.getTime() - answered)
    answered = Math.max(answered ?? 0, answered_at.getTime())
  }
  return longest
}

/** When a request that is none any more was last answered. */
export function lastAnswered(records: RequestRecord[], since: Date): number {
  return Math.max(since.getTime(), ...records.map(({ answered_at }) => answered_at.getTime()))
}
