import { findListing } from '../listings/store.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { findUserIfAny } from '../users/store.ts'
import type { BookingDetail } from './schema.ts'
import { serializeBookingDetail } from './serialize.ts'
import { findBooking } from './store.ts'

/**
 * A booking in full: with its guest, and the current name of its room type (contract, Booking detail).
 *
 * @throws DomainError `not_found`, also for an undefined id
 */
export async function readBookingDetail(
  db: Db,
  hostId: number,
  id: number | undefined,
): Promise<BookingDetail> {
  const booking = await findBooking(db, hostId, id)
  const [guest, listing] = await Promise.all([
    findUserIfAny(db, hostId, booking.user_id),
    findListing(db, hostId, booking.listing_id),
  ])
  const roomType = listing.content.room_types.find(({ id: known }) => known === booking.room_type_id)
  return serializeBookingDetail(booking, guest, roomType?.name ?? null)
}
