import { findRowsCovering } from '../availability/store.ts'
import { addDays, daysBetween } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { invalidField, invalidFields, notFound, type Problem, type ProblemCode } from '../errors.ts'
import type { Effect } from '../http/idempotency.ts'
import { hostQueue } from '../infra/host-clock.ts'
import type { Session } from '../infra/mongo.ts'
import type { StoredListing, StoredRoomType } from '../listings/model.ts'
import { readListingIfAny } from '../listings/read.ts'
import { messageModel } from '../messages/model.ts'
import type { User } from '../users/model.ts'
import { findUser } from '../users/store.ts'
import { type BookingDraft, insertBooking } from './changes.ts'
import { type Booking, bookingModel, bookingStatus } from './model.ts'
import { priceStay, toCents } from './pricing.ts'
import type { BookingCreate } from './schema.ts'
import { firstFullNight } from './units.ts'

type Store = Pick<Deps, 'db' | 'clock' | 'config' | 'ids'>

/**
 * Looks up what a new booking of a host is made of and readies its creation, with the guest's first message if
 * there is one. Units are counted in the transaction, after the clock moved: no other booking or availability
 * of this host can be written between the count and the booking.
 *
 * @throws DomainError `validation` at the field that names nothing of this host
 */
export async function prepareBooking(
  { db, clock, config, ids }: Store,
  hostId: number,
  input: BookingCreate,
): Promise<Effect<Booking>> {
  const [user, found] = await Promise.all([
    findUser({ db }, hostId, input.user_id),
    // With the rates that wait: what was pushed before is what the guest pays.
    readListingIfAny({ db }, hostId, input.listing_id),
  ])
  const { guest, listing, roomType } = requireParts(user, found, input.room_type_id)
  const nights = daysBetween(input.checkin_at, input.checkout_at)
  const message = input.message ?? null
  const price = priceStay(
    input.checkin_at,
    nights,
    roomType.prices ?? {},
    listing.content.prices?.extra_fees ?? [],
  )
  const [id, messageId] = await Promise.all([ids('booking'), message === null ? 0 : ids('message')])
  const prepared: BookingDraft = {
    id,
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
    queue: hostQueue(hostId),
    async run(session) {
      const check = () => requireUnit({ db }, prepared, session)
      const now = clock()
      const booking = await insertBooking(db, session, prepared, now, check)
      if (message !== null) {
        const first = firstMessage(booking, guest, messageId, message)
        await messageModel(db).create([first], { session })
      }
      return booking
    },
  }
}

/** Refuses a stay that has a night without a unit left. */
async function requireUnit(
  { db }: Pick<Store, 'db'>,
  stay: Pick<Booking, 'host_id' | 'room_type_id' | 'checkin_at' | 'checkout_at'>,
  session: Session,
): Promise<void> {
  const { host_id, room_type_id, checkin_at, checkout_at } = stay
  const nights = { from: checkin_at, to: addDays(checkout_at, -1) }
  const rows = await findRowsCovering(db, session, stay, nights)
  if (rows.length === 0) return
  const oldest = Math.min(...rows.map(({ sequence }) => sequence))
  const active = await bookingModel(db)
    .find(
      {
        host_id,
        room_type_id,
        status: { $ne: bookingStatus.cancelled },
        checkin_at: { $lt: checkout_at },
        checkout_at: { $gt: checkin_at },
        created_sequence: { $gt: oldest },
      },
      { _id: 0, checkin_at: 1, checkout_at: 1, created_sequence: 1 },
    )
    .session(session)
    .lean()
  const night = firstFullNight(stay, rows, active)
  if (night) throw invalidField('checkin_at', `No unit of the room type is left on ${night}`, 'unavailable')
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

/** What a booking is made of. */
interface Parts {
  guest: User
  listing: StoredListing
  roomType: StoredRoomType
}

/** Names everything that is not there at once: the user is looked for whatever became of the listing. */
function requireParts(
  guest: User | null,
  listing: StoredListing | null,
  roomTypeId: number | null | undefined,
): Parts {
  const problems: Problem[] = []
  const refuse = (path: string, message: string, code: ProblemCode = 'invalid') =>
    problems.push({ path, code, message })
  if (!guest) refuse('user_id', '"user_id" is not a user created by this host')
  if (!listing) refuse('listing_id', '"listing_id" is not a listing of this host')
  else if (listing.listing_status === 'inactive')
    refuse('listing_id', 'The listing is inactive and takes no bookings')
  const roomType = listing && chooseRoomType(listing, roomTypeId)
  if (listing && !roomType) {
    if (roomTypeId) refuse('room_type_id', '"room_type_id" is not a room type of the listing')
    else refuse('room_type_id', '"room_type_id" is required unless the listing has exactly one', 'required')
  }
  if (!guest || !listing || !roomType || problems.length > 0) throw invalidFields(problems)
  return { guest, listing, roomType }
}

function chooseRoomType({ content }: StoredListing, id: number | null | undefined) {
  if (id) return content.room_types.find((roomType) => roomType.id === id)
  return content.room_types.length === 1 ? content.room_types[0] : undefined
}

/**
 * A booking by its id alone: for administrators, who stand above hosts.
 *
 * @throws DomainError `not_found`
 */
export async function findBookingOfAnyHost({ db }: Pick<Store, 'db'>, id: number): Promise<Booking> {
  const booking = await bookingModel(db).findOne({ id }).lean()
  if (!booking) throw notFound('Booking')
  return booking
}
