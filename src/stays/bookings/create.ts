import { daysBetween, toDay } from '../../core/clock.ts'
import { invalidField, invalidFields, type Problem, type ProblemCode } from '../../core/errors.ts'
import { decimalPlaces, toMinorUnits } from '../../core/money.ts'
import { advanceHostClock, hostQueue, versionAt } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import { batch } from '../../http/write.ts'
import type { AvailabilityRow } from '../../inventory/availability/overlay.ts'
import { findCalendarRoomTypes, roomsByType } from '../../inventory/listings/calendar-rooms-store.ts'
import { type BookableListing, findBookableListing } from '../../inventory/listings/store.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import type { Traced } from '../../platform/mongo/turns/transactions.ts'
import { findRoomCalendars } from '../capacity/calendars.ts'
import { firstFullNight, nightsOf, nightsToCompare, type RoomCalendar } from '../capacity/units.ts'
import type { StoredMessage } from '../messages/model.ts'
import { insertMessages, newMessage } from '../messages/store.ts'
import type { StoredUser } from '../users/model.ts'
import { findUserIfAny, requireNotErased } from '../users/store.ts'
import type { StoredBooking } from './model.ts'
import { priceStay } from './pricing.ts'
import type { BookingCreate } from './schema.ts'
import { bookingStatus } from './status.ts'
import {
  type BookingDraft,
  findActiveStays,
  findRowsAndStays,
  insertBookings,
  type RoomTypeStay,
} from './store.ts'

/** A booking that is ready to be stored, and the message that its guest sends with it. */
export interface NewBooking {
  draft: BookingDraft
  /** What was known of the room type's calendars when the booking was prepared. */
  calendars: KnownCalendars
  /** Null if the guest sends no message. */
  message: { id: number; sender_name: string; text: string } | null
}

interface KnownCalendars {
  /** Number of the room type's rooms if at least one of them has a calendar, otherwise null. */
  rooms: number | null
  /** Time of the look-up. */
  at: Date
}

/** Creates bookings. */
export const newBookings = batch({ queue: hostQueue, prepare: prepareBooking, write: createBookings })

/**
 * Prepares to create a booking for a host, along with the guest's first message if the input contains a message:
 *
 * 1. The guest and the listing are looked up. `requireParts` says what is wrong with the ids, if anything is.
 * 2. `draftOf` computes the price.
 * 3. `createBookings` writes the booking, together with the host's other new bookings that wait for the same turn.
 *
 * @throws DomainError `validation` at each id that is missing, belongs to another host or cannot be booked; when
 * written, at `user_id` if the guest has been erased, or at `checkin_at` with `unavailable` (decisions §6)
 */
async function prepareBooking(
  app: Pick<AppContext, 'db' | 'clock' | 'config' | 'ids'>,
  ownerId: number,
  input: BookingCreate,
): Promise<NewBooking> {
  const { db, config, ids } = app
  const at = app.clock(ownerId)
  const [user, found] = await Promise.all([
    findUserIfAny(db, ownerId, input.user_id),
    findBookableListing(db, ownerId, input.listing_id),
  ])
  const parts = requireParts(user, found, input.room_type_id)
  const text = input.message ?? null
  const [id, messageId] = await Promise.all([ids('booking'), text === null ? 0 : ids('message')])
  const { calendar_room_types = [] } = parts.listing
  return {
    draft: draftOf(id, input, parts, config.defaultCurrency),
    calendars: { rooms: roomsByType(calendar_room_types).get(parts.roomType.id) ?? null, at },
    message: text === null ? null : { id: messageId, sender_name: parts.guest.name, text },
  }
}

/** The guest, listing and room type of a booking. */
interface Parts {
  guest: StoredUser
  listing: BookableListing
  roomType: BookableListing['content']['room_types'][number]
}

/** Returns the parts of a new booking, or throws a single error that reports the problems with all of the sent ids. */
function requireParts(
  guest: StoredUser | null,
  listing: BookableListing | null,
  roomTypeId: number | null | undefined,
): Parts {
  const problems: Problem[] = []
  const report = (path: string, message: string, code: ProblemCode = 'invalid') =>
    problems.push({ path, code, message })
  if (!guest) report('user_id', '"user_id" is not a user created by this host')
  if (!listing) report('listing_id', '"listing_id" is not a listing of this host')
  else if (listing.listing_status === 'inactive')
    report('listing_id', 'The listing is inactive and accepts no bookings')
  const roomType = listing ? chooseRoomType(listing, roomTypeId) : undefined
  if (listing && !roomType) {
    if (roomTypeId) report('room_type_id', '"room_type_id" is not a room type of the listing')
    else report('room_type_id', '"room_type_id" is required unless the listing has exactly one', 'required')
  }
  if (!guest || !listing || !roomType || problems.length > 0) throw invalidFields(problems)
  return { guest, listing, roomType }
}

function chooseRoomType({ content }: BookableListing, id: number | null | undefined) {
  if (id) return content.room_types.find((roomType) => roomType.id === id)
  return content.room_types.length === 1 ? content.room_types[0] : undefined
}

function draftOf(
  id: number,
  input: BookingCreate,
  { guest, listing, roomType }: Parts,
  defaultCurrency: string,
): BookingDraft {
  const { prices } = listing.content
  const nights = daysBetween(input.checkin_at, input.checkout_at)
  const currency = (prices?.currency ?? defaultCurrency).toUpperCase()
  const places = decimalPlaces(currency)
  const stay = { checkinAt: input.checkin_at, nights }
  const { price, discount, total } = priceStay(stay, roomType.prices ?? {}, prices?.extra_fees ?? [], places)
  return {
    id,
    owner_id: listing.owner_id,
    user_id: guest.id,
    listing_id: listing.id,
    room_type_id: roomType.id,
    checkin_at: input.checkin_at,
    checkout_at: input.checkout_at,
    nights,
    status: bookingStatus.pending,
    currency,
    decimal_places: places,
    price_minor: price,
    discount_minor: discount,
    price_total_minor: total,
    security_deposit_minor: Number(toMinorUnits(prices?.security_deposit, places)),
    special_requests: input.message ?? null,
    cancellation_reason: null,
    confirmed_at: null,
    canceled_at: null,
    erased_at: null,
  }
}

/**
 * Stores new bookings of one host and their first messages. Units are counted after the host's clock has advanced, so
 * that no other transaction can write the host's bookings or availability between the count and the insert.
 *
 * @throws DomainError `validation` if any of the guests is being erased, or any of the stays has a night without a unit
 */
async function createBookings(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  session: Session,
  ownerId: number,
  requests: Traced<NewBooking>[],
): Promise<StoredBooking[]> {
  const now = clock(ownerId)
  const drafts = requests.map(({ draft }) => draft)
  const tick = await advanceHostClock(db, session, ownerId, {
    now,
    changes: requests.length,
    messages: requests.filter(({ message }) => message !== null).length,
  })
  const guests = drafts.map(({ user_id }) => user_id)
  // If this breaks: a guest whose erasure has begun gets a booking
  if (tick.hasErasures) await requireNotErased(db, session, ownerId, guests)
  const bookings = requests.map(({ draft, trace }, index) => ({
    ...draft,
    created_sequence: tick.firstSequence + index,
    created_version: versionAt(tick.firstVersion, index),
    created_at: now,
    updated_at: versionAt(tick.firstVersion, index),
    trace,
  }))
  const known = requests.map(({ calendars }) => calendars)
  await requireUnits(db, session, { bookings, known, calendarsAt: tick.calendarsAt })
  await insertBookings(db, session, bookings)
  const messages = firstMessages(requests, { firstVersion: tick.firstMessageVersion, now })
  if (messages.length > 0) await insertMessages(db, session, messages)
  return bookings
}

/** New bookings that are about to be stored, and when their turn came. */
interface BookingsInTurn {
  bookings: StoredBooking[]
  /** What each booking knew of its room type's calendars. */
  known: KnownCalendars[]
  calendarsAt: Date | null
}

/**
 * Rejects all new bookings of a host if any of them includes a night with no unit left. Each counts against those that
 * follow it.
 *
 * @throws DomainError `validation` at `checkin_at` with `unavailable`
 */
async function requireUnits(db: Db, session: Session, inTurn: BookingsInTurn): Promise<void> {
  const { bookings } = inTurn
  const [first] = bookings
  if (!first) return
  const { owner_id } = first
  const rooms = await roomsOf(db, session, owner_id, inTurn)
  const stored = await findRoomCalendars(db, session, owner_id, [...rooms.keys()])
  // Calendars of which none has been read yet limit nothing.
  const calendars = new Map([...stored].filter(([, ones]) => ones.some(({ hasBeenRead }) => hasBeenRead)))
  const { rows, stays: taken } = await findLimits(db, session, bookings, calendars)
  for (const booking of bookings) {
    const night = firstFullNight(nightsOf(booking), {
      rows: rows.get(booking.room_type_id) ?? [],
      stays: taken.filter(({ room_type_id }) => room_type_id === booking.room_type_id),
      calendars: calendars.get(booking.room_type_id) ?? [],
      rooms: rooms.get(booking.room_type_id) ?? 0,
      today: toDay(booking.created_at),
    })
    if (night) throw invalidField('checkin_at', `No unit of the room type is left on ${night}`, 'unavailable')
    // If this breaks: bookings of one transaction do not count for each other
    taken.push(booking)
  }
}

/** What limits new bookings. */
interface Limits {
  /** The rows in force, by room type id. */
  rows: Map<number, AvailabilityRow[]>
  /** The stays that may count on the bookings' nights. */
  stays: RoomTypeStay[]
}

/**
 * Returns the rows in force on the nights of new bookings of one host, and the stays that may count there. They are read
 * together. Only where there are calendars but no rows are the stays read by a statement of their own.
 */
async function findLimits(
  db: Db,
  session: Session,
  bookings: StoredBooking[],
  calendars: Map<number, RoomCalendar[]>,
): Promise<Limits> {
  const { owner_id } = bookings[0] as StoredBooking
  const nights = bookings.map((booking) => ({
    roomTypeIds: [booking.room_type_id],
    days: nightsOf(booking),
  }))
  if (calendars.size === 0) return findRowsAndStays(db, session, owner_id, { nights })
  const compared = bookings.map((booking) => ({
    roomTypeIds: [booking.room_type_id],
    days: nightsToCompare(nightsOf(booking), calendars.get(booking.room_type_id) ?? []),
  }))
  const limits = await findRowsAndStays(db, session, owner_id, { nights, compared })
  if (limits.rows.size > 0) return limits
  return { rows: limits.rows, stays: await findActiveStays(db, session, owner_id, compared) }
}

/**
 * How long after the first reading of a room's calendar a booking may still not know of it: the time for which a booking
 * waits for its turn, and the difference between two processes' clocks.
 */
const unknownMilliseconds = 180_000

/**
 * Returns the number of rooms of those of the bookings' room types of which a room has a calendar, by room type id. What
 * a booking knew is enough, unless a room's calendar was first read at about that time: without the second look, the
 * booking would not see the blocks of that reading, nor the reading the booking.
 */
async function roomsOf(
  db: Db,
  session: Session,
  ownerId: number,
  { bookings, known, calendarsAt }: BookingsInTurn,
): Promise<Map<number, number>> {
  const earliest = Math.min(...known.map(({ at }) => at.getTime()))
  const isRecent = calendarsAt !== null && calendarsAt.getTime() > earliest - unknownMilliseconds
  if (isRecent) {
    const roomTypeIds = bookings.map(({ room_type_id }) => room_type_id)
    return findCalendarRoomTypes(db, ownerId, roomTypeIds, session)
  }
  const rooms = new Map<number, number>()
  for (const [index, { room_type_id }] of bookings.entries()) {
    const ofRoomType = known[index]?.rooms ?? null
    if (ofRoomType !== null) rooms.set(room_type_id, ofRoomType)
  }
  return rooms
}

/** Returns the messages that guests send with their new bookings, dated at the bookings' creation. */
function firstMessages(
  requests: Traced<NewBooking>[],
  { firstVersion, now }: { firstVersion: Date; now: Date },
): StoredMessage[] {
  const messages: StoredMessage[] = []
  for (const { draft, message, trace } of requests) {
    if (message === null) continue
    const sent = newMessage({
      id: message.id,
      owner_id: draft.owner_id,
      booking_id: draft.id,
      listing_id: draft.listing_id,
      sender: 'guest',
      sender_name: message.sender_name,
      text: message.text,
      place: 0,
      created_at: now,
      version: versionAt(firstVersion, messages.length),
      trace,
    })
    messages.push(sent)
  }
  return messages
}
