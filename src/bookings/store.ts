import { daysBetween, toTimestamp, toTimestampOrNull } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { DomainError, invalidField } from '../errors.ts'
import type { Effect } from '../http/idempotency.ts'
import { tickHostClock } from '../infra/host-clock.ts'
import { nextIds } from '../infra/sequences.ts'
import type { StoredListing, StoredRoomType } from '../listings/model.ts'
import { findListing } from '../listings/store.ts'
import { messageModel } from '../messages/model.ts'
import type { User } from '../users/model.ts'
import { findUser } from '../users/store.ts'
import { type Booking, bookingModel, bookingStatus } from './model.ts'
import { priceStay, toCents } from './pricing.ts'
import type { BookingCreate, Booking as BookingOnWire } from './schema.ts'

const longestStayNights = 1095

type Store = Pick<Deps, 'db' | 'clock' | 'config'>

/** Writers of a host's bookings and availability take turns: they move the same clock. */
export function bookingQueue(hostId: number): string {
  return `bookings/${hostId}`
}

/**
 * Checks a new booking of a host and readies its creation, with the guest's first message if there is one.
 *
 * @throws DomainError `validation` at the field that names nothing of this host, or at the dates
 */
export async function prepareBooking(
  { db, clock, config }: Store,
  hostId: number,
  input: BookingCreate,
): Promise<Effect<Booking>> {
  const nights = countNights(input)
  const guest = await requireGuest({ db }, hostId, input.user_id)
  const listing = await requireListing({ db }, hostId, input.listing_id)
  const roomType = requireRoomType(listing, input.room_type_id)
  const price = priceStay(
    input.checkin_at,
    nights,
    roomType.prices ?? {},
    listing.content.prices?.extra_fees ?? [],
  )
  const message = input.message?.trim() || null
  const messageId = message === null ? 0 : await nextIds(db, 'message')
  const prepared = {
    id: await nextIds(db, 'booking'),
    host_id: hostId,
    user_id: guest.id,
    listing_id: listing.id,
    room_type_id: roomType.id,
    checkin_at: input.checkin_at,
    checkout_at: input.checkout_at,
    nights,
    status: bookingStatus.pending,
    currency: (listing.content.prices?.currency ?? config.defaultCurrency).toUpperCase(),
    price_cents: price.priceCents,
    discount_cents: price.discountCents,
    price_total_cents: price.totalCents,
    security_deposit_cents: toCents(listing.content.prices?.security_deposit),
    special_requests: message,
    cancellation_reason: null,
    confirmed_at: null,
    canceled_at: null,
  }
  return {
    queue: bookingQueue(hostId),
    async run(session) {
      const { version, sequence } = await tickHostClock(db, session, hostId, clock())
      const booking = { ...prepared, created_sequence: sequence, created_at: version, updated_at: version }
      await bookingModel(db).create([booking], { session })
      if (message !== null) {
        const first = firstMessage(booking, guest, messageId, message)
        await messageModel(db).create([first], { session })
      }
      return booking
    },
  }
}

function firstMessage(booking: Booking, guest: User, id: number, text: string) {
  return {
    id,
    host_id: booking.host_id,
    booking_id: booking.id,
    sender: 'guest' as const,
    sender_name: guest.name,
    text,
    is_seen: false,
    created_at: booking.created_at,
  }
}

function countNights({ checkin_at, checkout_at }: BookingCreate): number {
  const nights = daysBetween(checkin_at, checkout_at)
  if (nights < 1) throw invalidField('checkout_at', '"checkout_at" must be after "checkin_at"')
  if (nights > longestStayNights) {
    throw invalidField('checkout_at', `A stay must be at most ${longestStayNights} nights`, 'max')
  }
  return nights
}

async function requireGuest({ db }: Pick<Store, 'db'>, hostId: number, userId: number): Promise<User> {
  const user = await findUser({ db }, hostId, userId)
  if (!user) throw invalidField('user_id', '"user_id" is not a user created by this host')
  return user
}

async function requireListing(
  { db }: Pick<Store, 'db'>,
  hostId: number,
  listingId: number,
): Promise<StoredListing> {
  const listing = await findListing({ db }, hostId, listingId).catch((error) => {
    if (error instanceof DomainError) return null
    throw error
  })
  if (!listing) throw invalidField('listing_id', '"listing_id" is not a listing of this host')
  if (listing.listing_status === 'inactive') {
    throw invalidField('listing_id', 'The listing is inactive and takes no bookings')
  }
  return listing
}

function requireRoomType({ content }: StoredListing, roomTypeId: number | null | undefined): StoredRoomType {
  const [first, second] = content.room_types
  if (roomTypeId === null || roomTypeId === undefined) {
    if (first && !second) return first
    throw invalidField(
      'room_type_id',
      '"room_type_id" is required unless the listing has exactly one',
      'required',
    )
  }
  const roomType = content.room_types.find(({ id }) => id === roomTypeId)
  if (!roomType) throw invalidField('room_type_id', '"room_type_id" is not a room type of the listing')
  return roomType
}

/** `BK-` and the id: `booking_no` and `booking_reference`. */
export function bookingReference(id: number): string {
  return `BK-${id}`
}

/** Cents as the contract writes money: major units. */
export function toMajorUnits(cents: number): number {
  return cents / 100
}

/** A booking as the contract writes it in the answer of create. */
export function toWire(booking: Booking): BookingOnWire {
  const price = toMajorUnits(booking.price_cents)
  const total = toMajorUnits(booking.price_total_cents)
  const deposit = toMajorUnits(booking.security_deposit_cents)
  return {
    booking_id: booking.id,
    booking_no: bookingReference(booking.id),
    user_id: booking.user_id,
    host_id: booking.host_id,
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
    discount: toMajorUnits(booking.discount_cents),
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
