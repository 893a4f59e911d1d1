import { notFound } from '../../core/errors.ts'
import { joinRoomTypeNames } from '../../inventory/listings/room-types-store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { lookUpByIdWith } from '../../platform/mongo/look-up.ts'
import { joinGuests, type ShownGuest } from '../users/store.ts'
import { bookingModel, type StoredBooking } from './model.ts'

/** A booking with what its detail shows of other documents. */
export interface BookingInFull {
  booking: StoredBooking
  guest: ShownGuest | null
  roomTypeName: string | null
}

type Found = StoredBooking & {
  guests: ShownGuest[]
  room_types: { names: (string | null)[] }[]
}

/**
 * Reads a booking, its guest and its room type's name with one command. One after the other, they would take two round
 * trips to the database, and most of the time of the request (decisions §27).
 */
const lookUpInFull = lookUpByIdWith<Found>(bookingModel, (db) => [
  joinGuests(db, 'guests'),
  joinRoomTypeNames(db, 'room_types'),
])

/**
 * Returns the host's booking with this id, in full.
 *
 * @throws DomainError `not_found`, including for an undefined id
 */
export async function findBookingInFull(
  db: Db,
  ownerId: number,
  id: number | undefined,
): Promise<BookingInFull> {
  const found = id ? await lookUpInFull(db, { owner_id: ownerId, id }) : null
  if (!found) throw notFound('Booking')
  const { guests, room_types, ...booking } = found
  return { booking, guest: guests[0] ?? null, roomTypeName: room_types[0]?.names[0] ?? null }
}
