import { toVersion } from '../../host-clock/format.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { StoredBooking } from '../../stays/bookings/model.ts'
import { prepareDetails } from '../../stays/bookings/serialize.ts'
import { toStatusWord } from '../../stays/bookings/status.ts'
import type { BookingChange } from '../../stays/bookings/store.ts'
import type { FeedItem } from './schema.ts'

/** Converts a booking to an item of the feed. */
export function serializeFeedItem(booking: BookingChange): FeedItem {
  return {
    booking_id: booking.id,
    listing_id: booking.listing_id,
    room_type_id: booking.room_type_id,
    status: toStatusWord(booking.status),
    checkin_at: booking.checkin_at,
    checkout_at: booking.checkout_at,
    version: toVersion(booking.updated_at),
  }
}

/** Converts bookings to items of the feed that have the whole booking, for `include=detail` (decisions §27). */
export async function serializeInFull(
  db: Db,
  ownerId: number,
  bookings: StoredBooking[],
): Promise<FeedItem[]> {
  const detailOf = await prepareDetails(db, ownerId, bookings)
  return bookings.map((booking) => ({ ...serializeFeedItem(booking), Booking: detailOf(booking) }))
}
