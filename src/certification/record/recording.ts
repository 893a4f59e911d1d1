import { consumerSetOf, findConsumerIfAny } from '../../changes/consumers/store.ts'
import { readCursor } from '../../changes/feed/cursor.ts'
import type { FeedItem } from '../../changes/feed/schema.ts'
import { daysBetween } from '../../core/clock.ts'
import { parseFeedTime } from '../../host-clock/format.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { Observed } from '../../sandbox/visit.ts'
import type { BookingDetail } from '../../stays/bookings/schema.ts'

/** The routes whose responses deliver bookings. */
export const feedRoute = 'GET /sandbox/integrations/:provider/bookings'
const detail = 'GET /sandbox/integrations/:provider/bookings/:id'

/** A booking from a response, with the fields that the feed and the detail have in common. */
export interface DeliveredBooking {
  id: number
  version: Date
  status: string
  checkin_at: string
  checkout_at: string
}

/** Returns the bookings in a response, including a page that is sent as a 304 because the client already has it. */
export function deliveredBookings({ operation, data }: Observed): DeliveredBooking[] {
  if (data === null) return []
  if (operation === feedRoute) return (data as { Bookings: FeedItem[] }).Bookings.map(toDelivered)
  if (operation !== detail) return []
  const { Booking } = data as { Booking: BookingDetail }
  return [toDelivered({ ...Booking, version: Booking.meta.version })]
}

function toDelivered({
  booking_id,
  status,
  checkin_at,
  checkout_at,
  version,
}: Omit<FeedItem, 'listing_id' | 'room_type_id'>): DeliveredBooking {
  return { id: booking_id, version: parseFeedTime(version), status, checkin_at, checkout_at }
}

/** A page's place in the feed. */
export interface PagePosition {
  /** True for the first page of a walk through the feed. */
  isFirst: boolean
  /** A version after which the page starts; null for the beginning of the feed. */
  from: Date | null
}

/** Returns the place of the feed page in a response, or null if the response is not a feed page. */
export async function readPagePosition(db: Db, seen: Observed): Promise<PagePosition | null> {
  const { operation, status } = seen
  if (operation !== feedRoute || status !== 200) return null
  const { page = 1, cursor, updated_after, consumer } = seen.query as FeedQuery
  if (cursor !== undefined) return { isFirst: false, from: readCursor('bookings', cursor)?.version ?? null }
  if (page > 1) return { isFirst: false, from: beforeFirst(seen) }
  if (consumer === undefined)
    return { isFirst: true, from: updated_after === undefined ? null : parseFeedTime(updated_after) }
  const owner = consumerSetOf({ ownerId: seen.sandboxId, keyId: seen.keyId }, 'bookings')
  return { isFirst: true, from: (await findConsumerIfAny(db, owner, consumer))?.acknowledged ?? null }
}

interface FeedQuery {
  page?: number
  cursor?: string
  updated_after?: string
  consumer?: string
}

/**
 * Returns the latest version that can precede the page's first booking, or null if the page is empty. A host's versions
 * are at least a second apart.
 */
function beforeFirst(seen: Observed): Date | null {
  const [first] = deliveredBookings(seen)
  return first ? new Date(first.version.getTime() - 1000) : null
}

/** A range in a bulk write of availability. */
type Range = { start_date?: unknown; end_date?: unknown } | null

/** Returns the number of items in a bulk write, and the number of nights that they cover. */
export function sizeOfWrite({ sent }: Observed): { items: number; nights: number } {
  const ranges: Range[] = Array.isArray(sent?.body?.data) ? sent.body.data : []
  const nights = ranges.map((range) => nightsOf(range ?? {}))
  return { items: ranges.length, nights: nights.reduce((sum, one) => sum + one, 0) }
}

function nightsOf({ start_date, end_date }: NonNullable<Range>): number {
  if (typeof start_date !== 'string' || typeof end_date !== 'string') return 0
  const nights = daysBetween(start_date, end_date) + 1
  return Number.isFinite(nights) && nights > 0 ? nights : 0
}
