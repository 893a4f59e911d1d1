import { notFound } from '../../core/errors.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { advanceHostClock, type Tick } from '../../versions/host-clock-store.ts'
import { bookingModel, type StoredBooking } from './model.ts'
import { bookingStatus } from './status.ts'
import type { Nights, Stay } from './units.ts'

/**
 * Only two functions write bookings. Each uses a version taken from the host's clock in the same transaction, so that
 * every change has a version of its own. `changes/feed/page.ts` explains why the feed therefore loses no change.
 */

/** A booking that has no position among the host's changes yet. */
export type BookingDraft = Omit<StoredBooking, 'created_sequence' | 'created_at' | 'updated_at'>

/** Stores a new booking at its position among the host's changes. */
export async function insertBooking(
  db: Db,
  session: Session,
  draft: BookingDraft,
  { version, sequence }: Tick,
  now: Date,
): Promise<StoredBooking> {
  const booking = { ...draft, created_sequence: sequence, created_at: now, updated_at: version }
  await bookingModel(db).collection.insertOne({ ...booking }, { session })
  return booking
}

/** Changes a booking that was read in the same transaction. */
export async function changeBooking(
  db: Db,
  session: Session,
  seen: StoredBooking,
  values: Partial<BookingDraft>,
  now: Date,
): Promise<StoredBooking> {
  const { version } = await advanceHostClock(db, session, seen.host_id, now)
  const { host_id, id } = seen
  const change = { ...values, updated_at: version }
  await bookingModel(db).collection.updateOne({ host_id, id }, { $set: change }, { session })
  return { ...seen, ...change }
}

/**
 * Returns the active stays in the given room types that overlap the given nights and were made after a position among
 * the host's changes.
 *
 * @param afterSequence the position; null for all active stays
 */
export async function findActiveStays(
  db: Db,
  session: Session,
  hostId: number,
  roomTypeIds: number[],
  { from, to }: Nights,
  afterSequence: number | null,
): Promise<RoomTypeStay[]> {
  const filter = {
    host_id: hostId,
    room_type_id: { $in: roomTypeIds },
    status: { $ne: bookingStatus.cancelled },
    checkin_at: { $lte: to },
    checkout_at: { $gt: from },
    ...(afterSequence === null ? {} : { created_sequence: { $gt: afterSequence } }),
  }
  const projection = { _id: 0, room_type_id: 1, checkin_at: 1, checkout_at: 1, created_sequence: 1 }
  return bookingModel(db).collection.find<RoomTypeStay>(filter, { session, projection }).toArray()
}

type RoomTypeStay = Stay & Pick<StoredBooking, 'room_type_id'>

/**
 * Returns the host's booking with this id.
 *
 * @throws DomainError `not_found`, including for an undefined id
 */
export async function findBooking(
  db: Db,
  hostId: number,
  id: number | undefined,
  session: Session | null = null,
): Promise<StoredBooking> {
  const options = session ? { session } : {}
  const { collection } = bookingModel(db)
  const booking = id && (await collection.findOne<StoredBooking>({ host_id: hostId, id }, options))
  if (!booking) throw notFound('Booking')
  return booking
}

/** Returns a user's bookings, ordered by id. */
export function findBookingsOfUser(
  db: Db,
  hostId: number,
  userId: number,
  session: Session | null = null,
): Promise<StoredBooking[]> {
  return bookingModel(db).find({ host_id: hostId, user_id: userId }, null, { session }).sort({ id: 1 }).lean()
}

/** Criteria for a booking. An absent field matches any value. */
export interface BookingCriteria {
  id?: number
  listing_id?: number
  statuses?: StoredBooking['status'][]
  /** Ids of bookings to leave out. */
  exceptIds?: number[]
}

/** Returns the host's newest booking that matches the criteria, or null. */
export function findNewestBooking(
  db: Db,
  host_id: number,
  { id, listing_id, statuses, exceptIds = [] }: BookingCriteria,
): Promise<StoredBooking | null> {
  const filter = {
    host_id,
    id: { ...(id === undefined ? {} : { $eq: id }), $nin: exceptIds },
    ...(listing_id === undefined ? {} : { listing_id }),
    ...(statuses ? { status: { $in: statuses } } : {}),
  }
  return bookingModel(db).findOne(filter).sort({ id: -1 }).lean()
}

/**
 * Returns the booking with this id from any host, for administrators.
 *
 * @throws DomainError `not_found`
 */
export async function findBookingOfAnyHost(db: Db, id: number): Promise<StoredBooking> {
  const booking = await bookingModel(db).findOne({ id }).lean()
  if (!booking) throw notFound('Booking')
  return booking
}

/** Conditions of a feed query on a host's bookings, apart from the version range. */
export interface ChangeFilter {
  host_id: number
  listing_id?: number
  checkout_at?: { $gte: string }
}

const changeColumns = {
  _id: 0,
  id: 1,
  listing_id: 1,
  room_type_id: 1,
  status: 1,
  checkin_at: 1,
  checkout_at: 1,
  updated_at: 1,
} as const

/** The part of a booking that the feed shows. */
export type BookingChange = Pick<StoredBooking, Exclude<keyof typeof changeColumns, '_id'>>

/**
 * Returns bookings after a version, in version order. Uses the driver directly, because mongoose would spend a sixth of
 * an idle poll's cost on casting values that are already typed.
 */
export function findChanges(
  db: Db,
  filter: ChangeFilter,
  after: Date | null,
  { skip, limit }: { skip: number; limit: number },
): Promise<BookingChange[]> {
  return bookingModel(db)
    .collection.find<BookingChange>({ ...filter, ...afterVersion(after) })
    .project<BookingChange>(changeColumns)
    .sort({ updated_at: 1 })
    .skip(skip)
    .limit(limit)
    .toArray()
}

/** Counts the bookings in a range of versions, up to `limit`. */
export function countChanges(
  db: Db,
  filter: ChangeFilter,
  { after, until, limit }: { after: Date | null; until?: Date | undefined; limit?: number | undefined },
): Promise<number> {
  const options = limit === undefined ? {} : { limit }
  return bookingModel(db).countDocuments({ ...filter, ...afterVersion(after, until) }, options)
}

/**
 * Returns the version of the booking that is followed by exactly `others` bookings in a range of versions, or null if
 * the range has too few bookings.
 */
export async function findVersionFromEnd(
  db: Db,
  filter: ChangeFilter,
  { after, until }: { after: Date | null; until?: Date | undefined },
  others: number,
): Promise<Date | null> {
  const options = { projection: { updated_at: 1 }, sort: { updated_at: -1 }, skip: others } as const
  const range = { ...filter, ...afterVersion(after, until) }
  const found = await bookingModel(db).collection.findOne<Pick<StoredBooking, 'updated_at'>>(range, options)
  return found?.updated_at ?? null
}

function afterVersion(version: Date | null, until?: Date) {
  if (version === null && until === undefined) return {}
  return { updated_at: { ...(version ? { $gt: version } : {}), ...(until ? { $lte: until } : {}) } }
}
