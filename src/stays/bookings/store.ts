import { notFound } from '../../core/errors.ts'
import { advanceHostClock, versionAt } from '../../host-clock/store.ts'
import type { AvailabilityRow } from '../../inventory/availability/overlay.ts'
import { findRowsCoveringWith } from '../../inventory/availability/store.ts'
import { setFields } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { rowReader } from '../../platform/mongo/driver/raw-rows.ts'
import { countFollowing, type FollowingAll } from '../../platform/mongo/following.ts'
import { lookUpById } from '../../platform/mongo/look-up.ts'
import type { CountedStay, Nights } from '../capacity/units.ts'
import { bookingModel, type StoredBooking } from './model.ts'
import { bookingStatus } from './status.ts'

/**
 * Only `insertBookings` and `changeBookings` write bookings. Each stores a version taken from the host's clock in the
 * same transaction, so that every change has its own version. `changes/feed/feed-page.ts` explains why the feed therefore
 * never misses a change. Advancing the clock also wakes waiting feed readers and the hint sender
 * (`host-clock/changes.ts`).
 */

/** A new booking that has not been assigned a version or sequence number yet. */
export type BookingDraft = Omit<
  StoredBooking,
  'created_sequence' | 'created_version' | 'created_at' | 'updated_at' | 'trace'
>

/** Stores new bookings, each with a version and a sequence that the host's clock has assigned in this transaction. */
export async function insertBookings(db: Db, session: Session, bookings: StoredBooking[]): Promise<void> {
  // The driver adds an `_id` to each document that it is given.
  const documents = bookings.map((booking) => ({ ...booking }))
  await bookingModel(db).collection.insertMany(documents, { session })
}

/** A change to a booking that {@link findBookingsToChange} returned in the same transaction. */
export interface BookingChangeToStore {
  /** The booking as it is before the change, so after any earlier change of the same list. */
  seen: StoredBooking
  values: Partial<BookingDraft>
  /** The `traceparent` of the change; null if it is not traced. */
  trace: string | null
}

/** Changes bookings of one host, in order, each with a version of its own. Returns each booking after its change. */
export async function changeBookings(
  db: Db,
  session: Session,
  changes: BookingChangeToStore[],
  now: Date,
): Promise<StoredBooking[]> {
  const ownerId = changes[0]?.seen.owner_id as number
  const tick = await advanceHostClock(db, session, ownerId, { now, changes: changes.length })
  const changed = changes.map(({ seen, values, trace }, index) => ({
    ...seen,
    ...values,
    updated_at: versionAt(tick.firstVersion, index),
    trace,
  }))
  const updates = changed.map(({ owner_id, id, updated_at, trace }, index) => ({
    filter: { owner_id, id },
    set: { ...changes[index]?.values, updated_at, trace },
  }))
  await setFields(bookingModel(db), session, updates)
  return changed
}

/** Returns a host's active stays that overlap the nights of room types. */
export function findActiveStays(
  db: Db,
  session: Session,
  ownerId: number,
  nights: RoomTypeNights[],
): Promise<RoomTypeStay[]> {
  const filter = activeOn(ownerId, nights)
  return bookingModel(db)
    .collection.find<RoomTypeStay>(filter, { session, projection: stayProjection })
    .toArray()
}

/**
 * Returns the rows of availability in force on nights, by room type id, and the active stays that overlap these nights, by
 * one statement. Without any rows, it reads no stays.
 */
export async function findRowsAndStays(
  db: Db,
  session: Session,
  ownerId: number,
  { nights, compared }: LimitedNights,
): Promise<{ rows: Map<number, AvailabilityRow[]>; stays: RoomTypeStay[] }> {
  const isUnknown = {
    $or: [{ $gt: ['$created_sequence', '$$sequence'] }, { $gt: ['$created_version', '$$as_of'] }],
  }
  const filter = compared ? activeOn(ownerId, compared) : { ...activeOn(ownerId, nights), $expr: isUnknown }
  const { rows, others } = await findRowsCoveringWith<RoomTypeStay>(
    db,
    session,
    { ownerId, wanted: nights },
    { collection: bookingModel(db).collection.name, filter, fields: stayColumns },
  )
  return { rows, stays: others }
}

/** Nights whose units are counted. */
interface LimitedNights {
  nights: RoomTypeNights[]
  /**
   * The nights whose stays are needed, all of them. If undefined, the stays on `nights` are, and those that count against
   * none of the rows are left out.
   */
  compared?: RoomTypeNights[]
}

/** Nights of room types. */
export interface RoomTypeNights {
  roomTypeIds: number[]
  days: Nights
}

function activeOn(owner_id: number, nights: RoomTypeNights[]) {
  const ranges = nights.map(({ roomTypeIds, days }) => ({
    owner_id,
    room_type_id: { $in: roomTypeIds },
    checkin_at: { $lte: days.to },
    checkout_at: { $gt: days.from },
  }))
  // The server plans a single range faster than a choice of one.
  const overlapping = ranges.length === 1 ? ranges[0] : { $or: ranges }
  return { ...overlapping, owner_id, status: { $ne: bookingStatus.cancelled } }
}

/** A stay and the id of the room type in which it occupies a unit. */
export type RoomTypeStay = CountedStay & Pick<StoredBooking, 'room_type_id'>

const stayColumns: Record<keyof RoomTypeStay, 1> = {
  id: 1,
  room_type_id: 1,
  checkin_at: 1,
  checkout_at: 1,
  created_at: 1,
  created_sequence: 1,
  created_version: 1,
}
const stayProjection = { _id: 0, ...stayColumns }

const lookUpBooking = lookUpById<StoredBooking>(bookingModel)

/**
 * Returns the host's booking with this id.
 *
 * @throws DomainError `not_found`, including for an undefined id
 */
export async function findBooking(db: Db, ownerId: number, id: number | undefined): Promise<StoredBooking> {
  const booking = id ? await lookUpBooking(db, { owner_id: ownerId, id }) : null
  if (!booking) throw notFound('Booking')
  return booking
}

/**
 * Returns the host's bookings with these ids, for use with {@link changeBookings}.
 *
 * @throws DomainError `not_found` if any of them does not exist
 */
export async function findBookingsToChange(
  db: Db,
  session: Session,
  owner_id: number,
  ids: number[],
): Promise<Map<number, StoredBooking>> {
  const filter = { owner_id, id: { $in: ids } }
  const found = await bookingModel(db).collection.find<StoredBooking>(filter, { session }).toArray()
  const byId = new Map(found.map((booking) => [booking.id, booking]))
  if (ids.some((id) => !byId.has(id))) throw notFound('Booking')
  return byId
}

/** Returns a user's bookings, ordered by id. */
export function findBookingsOfUser(
  db: Db,
  ownerId: number,
  userId: number,
  session: Session | null = null,
): Promise<StoredBooking[]> {
  return bookingModel(db)
    .find({ owner_id: ownerId, user_id: userId }, null, { session })
    .sort({ id: 1 })
    .lean()
}

/** Criteria for finding a booking. An absent field matches any value. */
export interface BookingCriteria {
  id?: number
  listing_id?: number
  statuses?: StoredBooking['status'][]
  /** Ids of bookings to exclude. */
  exceptIds?: number[]
}

/** Returns the host's newest booking that matches the criteria, or null if there is none. */
export function findNewestBooking(
  db: Db,
  owner_id: number,
  { id, listing_id, statuses, exceptIds = [] }: BookingCriteria,
): Promise<StoredBooking | null> {
  const filter = {
    owner_id,
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
  owner_id: number
  listing_id?: number
  checkout_at?: { $gte: string }
}

/** The fields of a booking that appear in the feed. */
export type BookingChange = Pick<
  StoredBooking,
  'id' | 'listing_id' | 'room_type_id' | 'status' | 'checkin_at' | 'checkout_at' | 'updated_at'
>

const changeColumns: Record<keyof BookingChange, 1> = {
  id: 1,
  listing_id: 1,
  room_type_id: 1,
  status: 1,
  checkin_at: 1,
  checkout_at: 1,
  updated_at: 1,
}
const changeProjection = { _id: 0, ...changeColumns }
const readChange = rowReader<BookingChange>(Object.keys(changeColumns) as (keyof BookingChange)[])

/**
 * Returns a range of the matching bookings after a version, or of all matching bookings if the version is null, in
 * version order.
 */
export async function findChanges(
  db: Db,
  filter: ChangeFilter,
  after: Date | null,
  range: Range,
): Promise<BookingChange[]> {
  const options = { raw: true, projection: changeProjection }
  return (await findAfter<Buffer>(db, filter, after, { ...range, ...options })).map(readChange)
}

/** Like {@link findChanges}, but returns whole bookings. */
export function findChangedBookings(
  db: Db,
  filter: ChangeFilter,
  after: Date | null,
  range: Range,
): Promise<StoredBooking[]> {
  return findAfter(db, filter, after, range)
}

interface Range {
  skip: number
  limit: number
}

function findAfter<Row extends object>(
  db: Db,
  filter: ChangeFilter,
  after: Date | null,
  options: Range & { raw?: boolean; projection?: object },
): Promise<Row[]> {
  const query = { ...filter, ...afterVersion(after) }
  // By default, the server's first batch has only 101 bookings, so the rest would take a second round trip.
  return bookingModel(db)
    .collection.find<Row>(query, { ...options, batchSize: options.limit, sort: { updated_at: 1 } })
    .toArray()
}

/** Counts the matching bookings in a version range, up to `limit`. */
export function countChanges(
  db: Db,
  filter: ChangeFilter,
  { after, until, limit }: { after: Date | null; until?: Date | undefined; limit?: number | undefined },
): Promise<number> {
  const options = limit === undefined ? {} : { limit }
  return bookingModel(db).countDocuments({ ...filter, ...afterVersion(after, until) }, options)
}

/**
 * Returns the version of the booking that is followed by exactly `others` bookings in a version range, or null if the
 * range has too few bookings.
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

/** Returns what follows each of some positions among a host's changes; see {@link countFollowing}. */
export function countChangesAfterEach(
  db: Db,
  ownerId: number,
  positions: number[],
  limit: number,
): Promise<FollowingAll> {
  const { collection } = bookingModel(db)
  return countFollowing({ collection, field: 'updated_at', ownerId }, positions, limit)
}

function afterVersion(version: Date | null, until?: Date) {
  if (version === null && until === undefined) return {}
  return { updated_at: { ...(version ? { $gt: version } : {}), ...(until ? { $lte: until } : {}) } }
}
