import { toTimestamp, toTimestampOrNull } from '../../core/clock.ts'
import { toMajorUnits } from '../../core/money.ts'
import { toVersion } from '../../host-clock/format.ts'
import { findRoomTypeNames } from '../../inventory/listings/room-types-store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { erasedPerson } from '../users/erased.ts'
import { findUsers, type ShownGuest } from '../users/store.ts'
import { toCountryCode } from './country.ts'
import type { StoredBooking } from './model.ts'
import type { Booking, BookingDetail } from './schema.ts'
import { toStatusWord } from './status.ts'

/** Returns `BK-` followed by the booking's id, shown as `booking_no` or `booking_reference`. */
export function bookingReference(id: number): string {
  return `BK-${id}`
}

/** Serializes a booking for a create response, as specified in the contract. */
export function serializeBooking(booking: StoredBooking): Booking {
  const price = toMajorUnits(booking.price_minor, booking.decimal_places)
  const total = toMajorUnits(booking.price_total_minor, booking.decimal_places)
  const deposit = toMajorUnits(booking.security_deposit_minor, booking.decimal_places)
  return {
    booking_id: booking.id,
    booking_no: bookingReference(booking.id),
    user_id: booking.user_id,
    host_id: booking.owner_id,
    listing_id: booking.listing_id,
    room_type_id: booking.room_type_id,
    checkin_at: booking.checkin_at,
    checkout_at: booking.checkout_at,
    nights: booking.nights,
    guests: 1,
    rooms: 1,
    status: booking.status,
    type: 'api_booking',
    currency: booking.currency,
    price,
    price_local: price,
    price_total: total,
    price_total_local: total,
    security_deposit: deposit,
    security_deposit_local: deposit,
    discount: toMajorUnits(booking.discount_minor, booking.decimal_places),
    transaction_fee: 0,
    service_fee: 0,
    service_fee_total: 0,
    is_recurring: 0,
    managed: 0,
    payout_ready: 0,
    recurring_at: null,
    lifecycle: null,
    payment_status: null,
    lead_status: null,
    source: 'api',
    api_created: true,
    special_requests: booking.special_requests,
    cancellation_reason: booking.cancellation_reason,
    dispute_reason: null,
    paid_at: null,
    paid_to_host_at: null,
    invoiced_at: null,
    canceled_at: toTimestampOrNull(booking.canceled_at),
    missed_at: null,
    confirmed_at: toTimestampOrNull(booking.confirmed_at),
    extended_at: null,
    meta: { source: 'api', api_created: true, special_requests: booking.special_requests },
    created_at: toTimestamp(booking.created_at),
    updated_at: toTimestamp(booking.updated_at),
  }
}

/** Serializes a booking in full (contract, Booking detail). */
export function serializeBookingDetail(
  booking: StoredBooking,
  of: ShownGuest | null,
  roomTypeName: string | null,
): BookingDetail {
  const total = toMajorUnits(booking.price_total_minor, booking.decimal_places)
  // An erasure overwrites the user last, so the user may still have data that an erased booking must not show.
  const guest = booking.erased_at ? erasedPerson(booking.user_id) : of
  return {
    booking_id: booking.id,
    booking_reference: bookingReference(booking.id),
    listing_id: booking.listing_id,
    room_type_id: booking.room_type_id,
    room_type_name: roomTypeName,
    room_id: null,
    status: toStatusWord(booking.status),
    checkin_at: booking.checkin_at,
    checkout_at: booking.checkout_at,
    nights: booking.nights,
    guests: { total: 1, rooms: 1 },
    guest: {
      name: guest?.name ?? null,
      email: guest?.email ?? null,
      phone: guest?.phone ?? null,
      country: toCountryCode(guest?.country, guest?.language),
    },
    pricing: {
      currency: booking.currency,
      total,
      total_local: total,
      security_deposit: toMajorUnits(booking.security_deposit_minor, booking.decimal_places),
    },
    cancellation_reason: booking.cancellation_reason,
    notes: booking.special_requests,
    erased_at: toTimestampOrNull(booking.erased_at),
    meta: {
      version: toVersion(booking.updated_at),
      created_at: toTimestamp(booking.created_at),
      updated_at: toTimestamp(booking.updated_at),
    },
  }
}

/**
 * Loads the guests and the room type names of a page of a host's bookings, and returns a function that serializes any of these
 * bookings in full. Names are the current ones, even if they have changed since the booking was made (decisions §27).
 */
export async function prepareDetails(
  db: Db,
  ownerId: number,
  bookings: StoredBooking[],
): Promise<(booking: StoredBooking) => BookingDetail> {
  const userIds = [...new Set(bookings.map(({ user_id }) => user_id))]
  const [guests, roomTypeNames] = await Promise.all([
    findUsers(db, ownerId, userIds),
    findRoomTypeNames(db, ownerId, bookings),
  ])
  const guestsById = new Map(guests.map((guest) => [guest.id, guest]))
  return (booking) => {
    const guest = guestsById.get(booking.user_id) ?? null
    return serializeBookingDetail(booking, guest, roomTypeNames.get(booking.room_type_id) ?? null)
  }
}
