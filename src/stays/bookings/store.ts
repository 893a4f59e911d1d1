import { notFound } from '../../core/errors.ts'
import { currentTraceparent } from '../../core/trace.ts'
import { advanceHostClock, type Tick } from '../../host-clock/store.ts'
import { setFields } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { lookUpById } from '../../platform/mongo/look-up.ts'
import { rowReader } from '../../platform/mongo/raw-rows.ts'
import { DependentChangesError, runBatched } from '../../platform/mongo/statements.ts'
import { bookingModel, type StoredBooking } from './model.ts'
import { bookingStatus } from './status.ts'
import type { Nights, Stay } from './units.ts'

/**
 * Only two functions write bookings. Each stores a version taken from the host's clock in the same transaction, so that
 * every change has its own version. `changes/feed/page.ts` explains why the feed therefore never misses a change.
 * Advancing the clock also wakes waiting feed readers and the hint sender (`host-clock/changes.ts`).
 */

/** A new booking that has not been assigned a version or sequence number yet. */
export type BookingDraft = Omit<StoredBooking, 'created_sequence' | 'created_at' | 'updated_at' | 'trace'>

/** Stores a new booking with the version and sequence from its {@link Tick}. */
export function insertBooking(
  db: Db,
  session: Session,
  draft: BookingDraft,
  { tick, now }: { tick: Tick; now: Date },
): Promise<StoredBooking> {
  return runBatched(db, session, insertBookings, {
    ...draft,
    created_sequence: tick.sequence,
    created_at: now,
    updated_at: tick.version,
    trace: currentTraceparent(),
  })
}

async function insertBookings(db: Db, session: Session, bookings: StoredBooking[]): Promise<StoredBooking[]> {
  await bookingModel(db).collection.insertMany(
    bookings.map((booking) => ({ ...booking })),
    { session },
  )
  return bookings
}

/** Changes a booking that {@link findBookingToChange} returned in the same transaction. */
export async function changeBooking(
  db: Db,
  session: Session,
  seen: StoredBooking,
  { values, now }: { values: Partial<BookingDraft>; now: Date },
): Promise<StoredBooking> {
  const { version } = await advanceHostClock(db, session, { ownerId: seen.owner_id, now, withMessage: false })
  const change = { ...values, updated_at: version, trace: currentTraceparent() }
  await runBatched(db, session, updateBookings, { seen, change })
  return { ...seen, ...change }
}

async function updateBookings(
  db: Db,
  session: Session,
  changes: { seen: StoredBooking; change: Partial<StoredBooking> }[],
): Promise<undefined[]> {
  const found = await setFields(
    bookingModel(db),
    session,
    changes.map(({ seen: { owner_id, id, updated_at }, change }) => ({
      filter: { owner_id, id, updated_at },
      set: change,
    })),
  )
  // Two changes to the same booking were based on the same state.
  if (found < changes.length) throw new DependentChangesError()
  return []
}

/** The stays to find: those that overlap the nights of room types. */
interface WantedStays {
  nights: { roomTypeIds: number[]; days: Nights }[]
  /** Only stays booked after this position among the host's changes; null for all stays. */
  afterSequence: number | null
}

/** Returns a host's active stays of the wanted kind. */
export function findActiveStays(
  db: Db,
  session: Session,
  ownerId: number,
  { nights, afterSequence }: WantedStays,
): Promise<RoomTypeStay[]> {
  const filter = {
    owner_id: ownerId,
    $or: nights.map(({ roomTypeIds, days }) => ({
      owner_id: ownerId,
      room_type_id: { $in: roomTypeIds },
      checkin_at: { $lte: days.to },
      checkout_at: { $gt: days.from },
    })),
    status: { $ne: bookingStatus.cancelled },
    ...(afterSequence === null ? {} : { created_sequence: { $gt: afterSequence } }),
  }
  const projection = { _id: 0, room_type_id: 1, checkin_at: 1, checkout_at: 1, created_sequence: 1 }
  return bookingModel(db).collection.find<RoomTypeStay>(filter, { session, projection }).toArray()
}

/** A stay and the id of the room type in which it occupies a unit. */
export type RoomTypeStay = Stay & Pick<StoredBooking, 'room_type_id'>

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
 * Returns the host's booking with this id, for use with {@link changeBooking}.
 *
 * @throws DomainError `not_found`
 */
export function findBookingToChange(
  db: Db,
  session: Session,
  owner_id: number,
  id: number,
): Promise<StoredBooking> {
  return runBatched(db, session, findBookingsToChange, { owner_id, id })
}

async function findBookingsToChange(
  db: Db,
  session: Session,
  wanted: { owner_id: number; id: number }[],
): Promise<StoredBooking[]> {
  const filter = { owner_id: wanted[0]?.owner_id, id: { $in: wanted.map(({ id }) => id) } }
  const found = await bookingModel(db).collection.find<StoredBooking>(filter, { session }).toArray()
  return wanted.map(({ id }) => {
    const booking = found.find((one) => one.id === id)
    if (!booking) throw notFound('Booking')
    return booking
  })
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

function afterVersion(version: Date | null, until?: Date) {
  if (version === null && until === undefined) return {}
  return { updated_at: { ...(version ? { $gt: version } : {}), ...(until ? { $lte: until } : {}) } }
}
