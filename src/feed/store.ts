import { type Booking, bookingModel, toStatusWord } from '../bookings/model.ts'
import { bookingReference, toMajorUnits } from '../bookings/wire.ts'
import { toTimestamp } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { findListing } from '../listings/store.ts'
import { findUser } from '../users/store.ts'
import { toCountryCode } from './country.ts'
import type { BookingDetail, FeedItem } from './schema.ts'
import { toVersion } from './version.ts'
import type { FeedRow } from './walk.ts'

type Store = Pick<Deps, 'db'>

/** A booking as an item of the feed. */
export function toFeedItem(booking: FeedRow): FeedItem {
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

/**
 * The booking of this host with this id.
 *
 * @throws DomainError `not_found`, also for an id that is none
 */
export async function findBooking({ db }: Store, hostId: number, id: number | undefined): Promise<Booking> {
  const booking = id && (await bookingModel(db).findOne({ host_id: hostId, id }).lean())
  if (!booking) throw notFound('Booking')
  return booking
}

/** A booking in full: with its guest, and the current name of its room type. */
export async function readBookingDetail(
  { db }: Store,
  hostId: number,
  id: number | undefined,
): Promise<BookingDetail> {
  const booking = await findBooking({ db }, hostId, id)
  const [guest, listing] = await Promise.all([
    findUser({ db }, hostId, booking.user_id),
    findListing({ db }, hostId, booking.listing_id),
  ])
  const roomType = listing.content.room_types.find(({ id: known }) => known === booking.room_type_id)
  const total = toMajorUnits(booking.price_total_cents)
  return {
    ...toFeedItemWithoutVersion(booking),
    booking_reference: bookingReference(booking.id),
    room_type_name: roomType?.name ?? null,
    room_id: null,
    nights: booking.nights,
    guests: { total: 1, rooms: 1 },
    guest: {
      name: guest?.name ?? null,
      email: guest?.email ?? null,
      phone: guest?.phone ?? null,
      country: toCountryCode(guest?.country),
    },
    pricing: {
      currency: booking.currency,
      total,
      total_local: total,
      security_deposit: toMajorUnits(booking.security_deposit_cents),
    },
    notes: booking.special_requests,
    meta: {
      version: toVersion(booking.updated_at),
      created_at: toTimestamp(booking.created_at),
      updated_at: toTimestamp(booking.updated_at),
    },
  }
}

function toFeedItemWithoutVersion(booking: Booking): Omit<FeedItem, 'version'> {
  const { version: _, ...item } = toFeedItem(booking)
  return item
}
