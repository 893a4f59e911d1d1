import { notFound } from '../../core/errors.ts'
import { type PageRequest, skipOf } from '../../http/input/pagination.ts'
import { setFields } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { type BlockedNights, calendarModel, type StoredCalendar } from './model.ts'
import { type CalendarStatus, calendarStatuses } from './words.ts'

/** How long a claim of a process counts, so that a killed process's calendar is due again within 2 minutes. */
const claimMilliseconds = 120_000

/** The fields of a calendar by which nights are counted (`stays/capacity`). */
export type RoomCalendarFields = Pick<
  StoredCalendar,
  'room_id' | 'room_type_id' | 'has_been_read' | 'blocks' | 'nights'
>

const countedColumns: Record<keyof RoomCalendarFields, 1> & { _id: 0 } = {
  _id: 0,
  room_id: 1,
  room_type_id: 1,
  has_been_read: 1,
  blocks: 1,
  nights: 1,
}

/** Returns the calendars of room types by which their nights are counted. */
export function findCalendarsOfRoomTypes(
  db: Db,
  session: Session,
  owner_id: number,
  roomTypeIds: number[],
): Promise<RoomCalendarFields[]> {
  const filter = { owner_id, room_type_id: { $in: roomTypeIds } }
  const options = { session, projection: countedColumns, batchSize: 1000 }
  return calendarModel(db).collection.find<RoomCalendarFields>(filter, options).sort({ room_id: 1 }).toArray()
}

/**
 * A calendar without what its entry in a list does not show. Of the nights, only which they are is read: a page may have a
 * million ranges of nights.
 */
export type ListedCalendar = Omit<StoredCalendar, 'blocks' | 'skipped' | 'missing' | 'nights'> & {
  nights: Pick<BlockedNights, 'from' | 'to'>[]
}

const notListed = {
  _id: 0,
  blocks: 0,
  skipped: 0,
  missing: 0,
  'nights.sequence': 0,
  'nights.at': 0,
} as const

/** Which of a host's calendars a list contains. */
export interface CalendarFilter {
  listingId?: number | undefined
  /** Empty for every status. */
  statuses?: CalendarStatus[]
}

/** Returns one page of a host's calendars, by listing, room type and room, and the number of all that match. */
export async function findCalendarsPage(
  db: Db,
  owner_id: number,
  { listingId, statuses = [] }: CalendarFilter,
  page: PageRequest,
): Promise<{ calendars: ListedCalendar[]; total: number }> {
  const filter = {
    owner_id,
    ...(listingId === undefined ? {} : { listing_id: listingId }),
    ...(statuses.length === 0 ? {} : { status: { $in: statuses } }),
  }
  const { collection } = calendarModel(db)
  const [total, calendars] = await Promise.all([
    collection.countDocuments(filter),
    collection
      .find<ListedCalendar>(filter, { projection: notListed })
      .sort({ listing_id: 1, room_type_id: 1, room_id: 1 })
      .skip(skipOf(page))
      .limit(page.perPage)
      .batchSize(page.perPage)
      .toArray(),
  ])
  return { calendars, total }
}

/**
 * Returns the calendar of a host's room.
 *
 * @throws DomainError `not_found`, including for an undefined id
 */
export async function findCalendar(
  db: Db,
  owner_id: number,
  room_id: number | undefined,
  session: Session | null = null,
): Promise<StoredCalendar> {
  const options = { projection: { _id: 0 }, ...(session ? { session } : {}) }
  const found = room_id
    ? await calendarModel(db).collection.findOne<StoredCalendar>({ owner_id, room_id }, options)
    : null
  if (!found) throw notFound('Calendar')
  return found
}

/** Which calendar a process claims, and until when it must be claimable to be claimed. */
export type DueCalendar = Pick<StoredCalendar, 'owner_id' | 'room_id' | 'url' | 'origin'> & {
  claimable_at: Date
}

const dueColumns: Record<keyof DueCalendar, 1> & { _id: 0 } = {
  _id: 0,
  owner_id: 1,
  room_id: 1,
  url: 1,
  origin: 1,
  claimable_at: 1,
}

/** Returns the calendars that have been due for longest, at most `limit`, except those of busy origins and hosts. */
export function findDueCalendars(
  db: Db,
  now: Date,
  { busyOrigins, busyHosts, limit }: { busyOrigins: string[]; busyHosts: number[]; limit: number },
): Promise<DueCalendar[]> {
  const filter = {
    claimable_at: { $lte: now },
    ...(busyOrigins.length === 0 ? {} : { origin: { $nin: busyOrigins } }),
    ...(busyHosts.length === 0 ? {} : { owner_id: { $nin: busyHosts } }),
  }
  return calendarModel(db)
    .collection.find<DueCalendar>(filter, { projection: dueColumns })
    .sort({ claimable_at: 1 })
    .limit(limit)
    .toArray()
}

/** Returns the time at which the next calendar is due; null if none ever is. */
export async function findNextDue(db: Db): Promise<Date | null> {
  const options = { projection: { claimable_at: 1 }, sort: { claimable_at: 1 } } as const
  const next = await calendarModel(db).collection.findOne<{ claimable_at: Date }>(
    { claimable_at: { $gt: new Date(0) } },
    options,
  )
  return next?.claimable_at ?? null
}

/**
 * Claims a calendar for one reading. Returns null if another process was first, or if the calendar's address or listing
 * has changed since it was found.
 */
export async function claimCalendar(
  db: Db,
  {
    owner_id,
    room_id,
    url,
    claimable_at,
  }: Pick<StoredCalendar, 'owner_id' | 'room_id' | 'url' | 'claimable_at'>,
  now: Date,
): Promise<ClaimedCalendar | null> {
  const claim = crypto.randomUUID()
  const claimed = { claim, claimable_at: new Date(now.getTime() + claimMilliseconds) }
  const found = await calendarModel(db).collection.findOneAndUpdate(
    { owner_id, room_id, url, claimable_at },
    { $set: claimed },
    { returnDocument: 'after', projection: { _id: 0, blocks: 0, nights: 0, missing: 0, skipped: 0 } },
  )
  return found as ClaimedCalendar | null
}

/** Names a reading in progress. */
export type Claimed = Pick<StoredCalendar, 'owner_id' | 'room_id'> & { claim: string }

/** What a reading has to know before it has the file. Its thousands of nights would only take memory meanwhile. */
export type ClaimedCalendar = Omit<StoredCalendar, 'blocks' | 'nights' | 'missing' | 'skipped'> & Claimed

/** Returns a calendar if the claim is still the reading's own, within a transaction. */
export function findClaimed(
  db: Db,
  session: Session,
  { owner_id, room_id, claim }: Claimed,
): Promise<StoredCalendar | null> {
  return calendarModel(db).collection.findOne<StoredCalendar>(
    { owner_id, room_id, claim },
    { session, projection: { _id: 0 } },
  )
}

/** Stores the outcome of a reading and ends its claim. Returns false if the claim was not the reading's own any more. */
export async function saveReading(
  db: Db,
  session: Session | null,
  { owner_id, room_id, claim }: Claimed,
  outcome: Partial<StoredCalendar> & { next_read_at: Date },
): Promise<boolean> {
  const set = { ...outcome, claim: null, claimable_at: outcome.next_read_at }
  const options = session ? { session } : {}
  const { matchedCount } = await calendarModel(db).collection.updateOne(
    { owner_id, room_id, claim },
    { $set: set },
    options,
  )
  return matchedCount === 1
}

/** Gives a claim back unused, so that the calendar is due as it was before. */
export async function giveBackClaim(
  db: Db,
  { owner_id, room_id, claim, next_read_at }: Claimed & Pick<StoredCalendar, 'next_read_at'>,
): Promise<void> {
  await calendarModel(db).collection.updateOne(
    { owner_id, room_id, claim },
    { $set: { claim: null, claimable_at: next_read_at } },
  )
}

/** The fields of a calendar that a write of its address depends on. */
export type WrittenCalendar = Pick<StoredCalendar, 'room_id' | 'is_inactive' | 'is_limited'>

/**
 * Returns the calendars of some rooms, within a transaction. It does not read their blocks, of which a listing's rooms may
 * have a million.
 */
export function findCalendarsOfRooms(
  db: Db,
  session: Session,
  owner_id: number,
  roomIds: number[],
): Promise<WrittenCalendar[]> {
  const filter = { owner_id, room_id: { $in: roomIds } }
  const projection: Record<keyof WrittenCalendar, 1> & { _id: 0 } = {
    _id: 0,
    room_id: 1,
    is_inactive: 1,
    is_limited: 1,
  }
  const options = { session, projection, batchSize: roomIds.length + 1 }
  return calendarModel(db).collection.find<WrittenCalendar>(filter, options).toArray()
}

/** Counts the host's calendars that are not limited. */
export function countUnlimited(db: Db, session: Session, owner_id: number): Promise<number> {
  return calendarModel(db).collection.countDocuments({ owner_id, is_limited: false }, { session })
}

/** Returns the ids of the rooms whose calendars are limited, lowest first. */
export async function findLimitedRooms(
  db: Db,
  session: Session,
  owner_id: number,
  limit: number,
): Promise<number[]> {
  const options = { session, projection: { _id: 0, room_id: 1 }, sort: { room_id: 1 }, limit } as const
  const found = await calendarModel(db)
    .collection.find<Pick<StoredCalendar, 'room_id'>>({ owner_id, is_limited: true }, options)
    .toArray()
  return found.map(({ room_id }) => room_id)
}

/** Stores new calendars. */
export async function insertCalendars(db: Db, session: Session, calendars: StoredCalendar[]): Promise<void> {
  // The driver adds an `_id` to each document that it is given.
  const documents = calendars.map((calendar) => ({ ...calendar }))
  if (documents.length > 0) await calendarModel(db).collection.insertMany(documents, { session })
}

/** Changes calendars of a host, by room id. */
export async function changeCalendars(
  db: Db,
  session: Session,
  owner_id: number,
  changes: { room_id: number; set: Partial<StoredCalendar> }[],
): Promise<void> {
  const updates = changes.map(({ room_id, set }) => ({ filter: { owner_id, room_id }, set }))
  if (updates.length > 0) await setFields(calendarModel(db), session, updates)
}

/** Removes the calendars of some rooms, with their blocks. Returns the number of those that were not limited. */
export async function removeCalendars(
  db: Db,
  session: Session,
  owner_id: number,
  roomIds: number[],
): Promise<number> {
  const { collection } = calendarModel(db)
  const filter = { owner_id, room_id: { $in: roomIds } }
  const { deletedCount } = await collection.deleteMany({ ...filter, is_limited: false }, { session })
  await collection.deleteMany(filter, { session })
  return deletedCount
}

/**
 * Sets fields of a listing's calendars. The model casts them, because only operations through the model join an
 * administrator's transaction.
 */
export async function changeCalendarsOfListing(
  db: Db,
  { owner_id, listing_id }: Pick<StoredCalendar, 'owner_id' | 'listing_id'>,
  set: Partial<StoredCalendar>,
  only: Partial<Pick<StoredCalendar, 'is_limited' | 'is_inactive'>>,
): Promise<void> {
  await calendarModel(db).updateMany({ owner_id, listing_id, ...only }, { $set: set })
}

/** Time for which a calendar may be due before it counts as overdue: an interval, within which its turn should come. */
const overdueMilliseconds = 15 * 60_000

/** How the readings of all hosts' calendars are going. */
export interface CalendarState {
  /** Number of calendars in each status. */
  counts: Record<CalendarStatus, number>
  /** Age of the oldest last good reading of the calendars whose last attempt was good; null without such a calendar. */
  oldestReadSeconds: number | null
  /** Number of calendars that have been due for longer than an interval. */
  overdue: number
}

/** Returns how the readings of all hosts' calendars are going. It reads indexes only. */
export async function calendarState(db: Db, now: Date): Promise<CalendarState> {
  const { collection } = calendarModel(db)
  const dueBefore = new Date(now.getTime() - overdueMilliseconds)
  const wellRead: CalendarStatus[] = ['ok', 'holding']
  const [found, oldest, overdue] = await Promise.all([
    collection
      .aggregate<{ _id: CalendarStatus; count: number }>([
        { $match: { status: { $in: [...calendarStatuses] } } },
        { $group: { _id: '$status', count: { $sum: 1 } } },
      ])
      .toArray(),
    collection.findOne<{ read_at: Date }>(
      { status: { $in: wellRead } },
      { projection: { _id: 0, status: 1, read_at: 1 }, sort: { read_at: 1 } },
    ),
    collection.countDocuments({ claimable_at: { $lte: dueBefore } }),
  ])
  const counts = new Map(found.map(({ _id, count }) => [_id, count]))
  const named = calendarStatuses.map((status) => [status, counts.get(status) ?? 0])
  return {
    counts: Object.fromEntries(named) as Record<CalendarStatus, number>,
    oldestReadSeconds: oldest ? Math.max(0, (now.getTime() - oldest.read_at.getTime()) / 1000) : null,
    overdue,
  }
}
