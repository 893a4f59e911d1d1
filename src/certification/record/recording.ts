import { createHmac } from 'node:crypto'
import { stringify } from 'safe-stable-stringify'
import { consumerSetOf, findConsumerIfAny } from '../../changes/consumers/store.ts'
import { readCursor } from '../../changes/feed/cursor.ts'
import type { FeedItem } from '../../changes/feed/schema.ts'
import { daysBetween } from '../../core/clock.ts'
import { parseFeedTime } from '../../host-clock/format.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { Observed } from '../../sandbox/visit.ts'
import type { BookingDetail } from '../../stays/bookings/schema.ts'
import { countRequest } from '../store.ts'
import type { DeliveredVersion, RequestRecord } from './model.ts'
import { insertRecord, storeDeliveries } from './store.ts'

/** Maximum number of requests recorded for a certification. Further requests are only counted. */
const maxRecords = 5000

/** Records a request of a running certification: counts it, decides what is recorded of it, and stores that. */
export async function recordRequest(
  db: Db,
  certificationId: number,
  seen: Observed,
  now: Date,
): Promise<void> {
  const counted = await countRequest(db, certificationId)
  if (!counted || counted.earlierRequests >= maxRecords) return
  const { record, deliveries } = whatIsRecorded(seen, {
    certificationId,
    ordinal: counted.earlierRequests + 1,
    secret: counted.secret,
    acknowledged: await findAcknowledged(db, seen),
    now,
  })
  const delivered = await storeDeliveries(db, deliveries)
  await insertRecord(db, { ...record, delivered })
}

/** What is known of a request besides what was observed. */
interface Circumstances {
  certificationId: number
  /** Number of the request within its certification, counted from 1. */
  ordinal: number
  /** Secret for hashing the body and the `Idempotency-Key`. */
  secret: string
  /** The position of the consumer that the request reads as; null if there is none. */
  acknowledged: Date | null
  /** The time at which the response is about to be sent. */
  now: Date
}

/** Time after which records expire if their certification was never ended properly. */
const keptMilliseconds = 5 * 3_600_000

/**
 * Returns what is recorded of a request: its record, and the booking versions that its response delivered. The record
 * has no value that was sent, only keyed hashes, which show whether two requests sent the same.
 */
export function whatIsRecorded(
  seen: Observed,
  { certificationId, ordinal, secret, acknowledged, now }: Circumstances,
): { record: Omit<RequestRecord, 'delivered'>; deliveries: Omit<DeliveredVersion, '_id'>[] } {
  const { status } = seen
  const fault = seen.fault ?? realFault(status)
  const page = placeOfPage(seen, acknowledged)
  const { body, idempotencyKey } = seen.sent ?? {}
  const { items, nights } = sizeOfWrite(body)
  const hash = (value: string) => createHmac('sha256', secret).update(value).digest('base64url')
  const expires_at = new Date(now.getTime() + keptMilliseconds)
  const bookings = hasSucceeded({ status, fault }) ? bookingsIn(seen) : []
  return {
    record: {
      certification_id: certificationId,
      ordinal,
      operation: seen.operation,
      at: seen.at,
      answered_at: now,
      request_id: seen.requestId,
      status,
      fault,
      is_page: page !== null,
      is_first: page?.isFirst ?? false,
      from: page?.from ?? null,
      items,
      nights,
      body_hash: body === undefined ? null : hash(stringify(body) ?? ''),
      key_hash: idempotencyKey === undefined ? null : hash(idempotencyKey),
      expires_at,
    },
    deliveries: bookings.map((booking) => ({ certification_id: certificationId, ...booking, expires_at })),
  }
}

/** Returns the fault that a real 429 or 5xx response is recorded as; null for any other status. */
function realFault(status: number): string | null {
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'internal_error' : null
}

/** Returns true if the response reached the product and was not an error. */
export function hasSucceeded(record: Pick<RequestRecord, 'fault' | 'status'>): boolean {
  return !isLost(record) && record.status < 300
}

/** Returns true if the product cannot have received the handler's whole response. */
export function isLost({ fault }: Pick<RequestRecord, 'fault'>): boolean {
  return fault !== null && fault !== 'slow'
}

/** The routes whose responses deliver bookings. */
export const feedRoute = 'GET /sandbox/integrations/:provider/bookings'
const detailRoute = 'GET /sandbox/integrations/:provider/bookings/:id'

/** A page's place in the feed. */
interface PagePlace {
  /** True for the first page of a walk through the feed. */
  isFirst: boolean
  /** A version after which the page starts; null for the beginning of the feed. */
  from: Date | null
}

/** Returns the place of the feed page in a response, or null if the response is not a feed page. */
function placeOfPage(seen: Observed, acknowledged: Date | null): PagePlace | null {
  const { operation, status } = seen
  if (operation !== feedRoute || status !== 200) return null
  const { page = 1, cursor, updated_after, consumer } = seen.query as FeedQuery
  if (cursor !== undefined) return { isFirst: false, from: readCursor('bookings', cursor)?.version ?? null }
  if (page > 1) return { isFirst: false, from: beforeFirst(seen) }
  if (consumer !== undefined) return { isFirst: true, from: acknowledged }
  return { isFirst: true, from: updated_after === undefined ? null : parseFeedTime(updated_after) }
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
  const [first] = bookingsIn(seen)
  return first ? new Date(first.version.getTime() - 1000) : null
}

/** A booking from a response, with the fields that the feed and the detail have in common. */
type DeliveredBooking = Pick<
  DeliveredVersion,
  'booking_id' | 'version' | 'status' | 'checkin_at' | 'checkout_at'
>

/** Returns the bookings in a response, including a page that is sent as a 304 because the client already has it. */
function bookingsIn({ operation, data }: Observed): DeliveredBooking[] {
  if (data === null) return []
  if (operation === feedRoute) return (data as { Bookings: FeedItem[] }).Bookings.map(toDelivered)
  if (operation !== detailRoute) return []
  const { Booking } = data as { Booking: BookingDetail }
  return [toDelivered({ ...Booking, version: Booking.meta.version })]
}

function toDelivered({
  booking_id,
  version,
  status,
  checkin_at,
  checkout_at,
}: Omit<FeedItem, 'listing_id' | 'room_type_id'>): DeliveredBooking {
  return { booking_id, version: parseFeedTime(version), status, checkin_at, checkout_at }
}

/** A range in a bulk write of availability. It is counted even if the route refuses it. */
type Range = { start_date?: unknown; end_date?: unknown } | null

/** Returns the number of items in a bulk write, and the number of nights that they cover. */
function sizeOfWrite(body: NonNullable<Observed['sent']>['body']): { items: number; nights: number } {
  const ranges: Range[] = Array.isArray(body?.data) ? body.data : []
  const nights = ranges.map((range) => nightsOf(range ?? {}))
  return { items: ranges.length, nights: nights.reduce((sum, one) => sum + one, 0) }
}

function nightsOf({ start_date, end_date }: NonNullable<Range>): number {
  if (typeof start_date !== 'string' || typeof end_date !== 'string') return 0
  const nights = daysBetween(start_date, end_date) + 1
  return Number.isFinite(nights) && nights > 0 ? nights : 0
}

/** Returns the position of the consumer that a request reads the feed as; null if there is none. */
async function findAcknowledged(db: Db, seen: Observed): Promise<Date | null> {
  if (seen.operation !== feedRoute || seen.status !== 200) return null
  const { consumer } = seen.query as FeedQuery
  if (consumer === undefined) return null
  const consumers = consumerSetOf({ ownerId: seen.sandboxId, keyId: seen.keyId }, 'bookings')
  const found = await findConsumerIfAny(db, consumers, consumer)
  return found?.acknowledged ?? null
}
