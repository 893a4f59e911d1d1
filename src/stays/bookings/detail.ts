import { findListing } from '../../inventory/listings/store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findUserIfAny } from '../users/store.ts'
import type { StoredBooking } from './model.ts'
import type { BookingDetail } from './schema.ts'
import { serializeBookingDetail } from './serialize.ts'

/** Reads what a booking in full has beside the booking itself, and returns what puts them together. */
export async function prepareDetail(
  db: Db,
  { host_id, user_id, listing_id, room_type_id }: StoredBooking,
): Promise<(booking: StoredBooking) => BookingDetail> {
  const [guest, listing] = await Promise.all([
    findUserIfAny(db, host_id, user_id),
    findListing(db, host_id, listing_id),
  ])
  const roomType = listing.content.room_types.find(({ id: known }) => known === room_type_id)
  return (booking) => serializeBookingDetail(booking, guest, roomType?.name ?? null)
}
