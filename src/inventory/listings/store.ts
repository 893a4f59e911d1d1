import { isDeepStrictEqual } from 'node:util'
import type { Types } from 'mongoose'
import { DomainError, notFound } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { breaksUniqueIndex } from '../../platform/mongo/errors.ts'
import { lookUpById } from '../../platform/mongo/look-up.ts'
import { resumeCalendars, stopCalendars } from '../calendars/addresses.ts'
import { calendarRoomTypesOf } from './calendar-rooms.ts'
import type { ListingPatch } from './fields.ts'
import { bytesOf, maxBytes } from './merge.ts'
import {
  type CalendarRoomType,
  indexFieldsOf,
  type ListingContent,
  type ListingWithPrices,
  listingModel,
  nameKeyOf,
  originalIdIndex,
  type StoredContent,
  type StoredListing,
  type StoredRoomType,
  type WrittenListing,
} from './model.ts'
import { type ListingStatus, listingStatuses } from './schema.ts'

/** Returns the host's listing with this id, or null if there is none. */
export async function findListingIfAny(
  db: Db,
  ownerId: number,
  id: number,
  session: Session | null = null,
): Promise<ListingWithPrices | null> {
  return findListingWith(db, { owner_id: ownerId, id }, session)
}

/** Returns the host's listing with this id or hash of its `original_id`, or null if there is none. */
export async function findListingWith(
  db: Db,
  unique: Pick<StoredListing, 'owner_id'> & Partial<Pick<StoredListing, 'id' | 'original_id_key'>>,
  session: Session | null = null,
): Promise<ListingWithPrices | null> {
  const options = session ? { session } : {}
  const found = await listingModel(db).collection.findOne<StoredListing>(unique, options)
  return found && toListing(found)
}

function toListing({
  prices,
  content,
  calendar_room_types: _,
  measured: __,
  ...listing
}: StoredListing): ListingWithPrices {
  return { ...listing, content: { ...content, room_types: withPrices(content.room_types, prices) } }
}

/** Returns a listing's room types with its prices, which are stored by room type id. */
function withPrices<RoomType extends Pick<StoredRoomType, 'id'>>(
  roomTypes: RoomType[],
  stored: StoredListing['prices'],
) {
  return roomTypes.map((roomType) => {
    const prices = stored?.[roomType.id]
    return prices ? { ...roomType, prices } : roomType
  })
}

const bookableColumns = {
  _id: 0,
  id: 1,
  owner_id: 1,
  listing_status: 1,
  prices: 1,
  'content.prices': 1,
  'content.room_types.id': 1,
  calendar_room_types: 1,
} as const

/** The stored fields of a listing that a booking needs. */
type StoredBookable = Pick<
  StoredListing,
  'id' | 'owner_id' | 'listing_status' | 'prices' | 'calendar_room_types'
> & {
  content: Pick<StoredContent, 'prices'> & { room_types: Pick<StoredRoomType, 'id'>[] }
}

/** The fields of a listing that a booking needs. */
export type BookableListing = Pick<ListingWithPrices, 'id' | 'owner_id' | 'listing_status' | 'prices'> & {
  content: Pick<ListingContent, 'prices'> & { room_types: Pick<StoredRoomType, 'id' | 'prices'>[] }
  calendar_room_types: CalendarRoomType[]
}

const lookUpBookable = lookUpById<StoredBookable>(listingModel, bookableColumns)

/** Returns the fields of the host's listing that a booking needs; null if there is no such listing. */
export async function findBookableListing(
  db: Db,
  ownerId: number,
  id: number,
): Promise<BookableListing | null> {
  const found = await lookUpBookable(db, { owner_id: ownerId, id })
  if (!found) return null
  const { prices, content, ...listing } = found
  return { ...listing, content: { ...content, room_types: withPrices(content.room_types, prices) } }
}

/**
 * Returns the host's listing with this id.
 *
 * @throws DomainError `not_found`, including for an undefined id
 */
export async function findListing(
  db: Db,
  ownerId: number,
  id: number | undefined,
  session: Session | null = null,
): Promise<ListingWithPrices> {
  const listing = id ? await findListingIfAny(db, ownerId, id, session) : null
  if (!listing) throw notFound('Listing')
  return listing
}

/** Stores a new listing as a draft. */
export async function insertListing(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  ownerId: number,
  { id, content }: Pick<ListingWithPrices, 'id' | 'content'>,
  session: Session,
): Promise<ListingWithPrices> {
  const now = clock(ownerId)
  const stored: StoredListing = {
    id,
    owner_id: ownerId,
    unique_id: `lst_${crypto.randomUUID()}`,
    ...statusFields('draft'),
    ...contentFields(content),
    measured: { at: now, bytes: bytesOf(content) },
    prices: pricesOf(content),
    revision: 1,
    created_at: now,
    updated_at: now,
  }
  await listingModel(db).collection.insertOne({ ...stored }, { session })
  return toListing(stored)
}

/**
 * Replaces a listing's content. Changes nothing and returns false if what the new content was made from has been written
 * since it was read: the content, its status, or the prices of a room type whose prices were merged.
 *
 * @throws DomainError `listing_conflict` if another of the host's listings has the `original_id`
 */
export async function replaceContent(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  read: ListingWithPrices,
  content: ListingContent,
  session: Session,
): Promise<boolean> {
  const { owner_id, id, revision, listing_status, content: before } = read
  const asRead = {
    owner_id,
    id,
    // If this breaks: a listing's write undoes another one that came between
    revision,
    listing_status,
    ...pricesAsRead(before, content),
  }
  const now = clock(owner_id)
  const set = { ...contentFields(content), ...changedPrices(before, content), updated_at: now }
  const measured = { at: now, bytes: bytesOf(content) }
  try {
    return await writeMeasured(db, { asRead, readAt: read.updated_at, set, measured }, session)
  } catch (error) {
    throw breaksUniqueIndex(error, originalIdIndex) ? originalIdTaken() : error
  }
}

/**
 * Changes fields of a listing's content that no other document depends on; callers enter a lane first (`inLane`). Changes
 * nothing and returns false if the content has been written since it was read.
 */
export async function changeFields(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  { owner_id, id, revision, updated_at, content: before }: ListingWithPrices,
  content: ListingContent,
): Promise<boolean> {
  const { room_types: _, ...after } = content
  const now = clock(owner_id)
  const known = before as Record<string, unknown>
  const changed = Object.entries(after).filter(([field, value]) => value !== known[field])
  const fields = Object.fromEntries(changed.map(([field, value]) => [`content.${field}`, value]))
  const { name_key } = indexFieldsOf(after)
  const set = { ...fields, name_key, updated_at: now }
  const measured = { at: now, bytes: bytesOf(content) }
  const asRead = { owner_id, id, revision }
  return writeMeasured(db, { asRead, readAt: updated_at, set, measured })
}

/** A write of a listing's content, made from the listing as it was read. */
interface MeasuredWrite {
  /** The filter under which the write is right. */
  asRead: object
  /** The listing's `updated_at` when it was read. */
  readAt: Date
  set: object
  measured: NonNullable<StoredListing['measured']>
}

/**
 * Writes a listing's content and its size, in one statement unless something else was written since it was read, such as
 * prices: what they add was not measured, so the size is then unknown. Changes nothing and returns false if the listing
 * is not as it was read.
 */
async function writeMeasured(
  db: Db,
  { asRead, readAt, set, measured }: MeasuredWrite,
  session: Session | null = null,
): Promise<boolean> {
  const { collection } = listingModel(db)
  const options = session ? { session } : {}
  const $inc = { revision: 1 }
  const unchanged = { ...asRead, updated_at: readAt }
  // The measured size is right only if nobody has written the listing since it was read.
  const known = await collection.updateOne(unchanged, { $set: { ...set, measured }, $inc }, options)
  if (known.matchedCount === 1) return true
  const { matchedCount } = await collection.updateOne(
    asRead,
    { $set: set, $unset: { measured: '' }, $inc },
    options,
  )
  return matchedCount === 1
}

/** Fields of a listing's content that are replaced as a whole by what is sent, and which no other document depends on. */
export type PlainFields = Omit<ListingPatch, 'room_types' | 'original_id' | 'original_url'>

const shownColumns = {
  _id: 0,
  id: 1,
  'content.original_id': 1,
  'content.room_types.id': 1,
  'content.room_types.partner_id': 1,
  'content.room_types.rooms.id': 1,
  'content.room_types.rooms.partner_id': 1,
} as const

/**
 * Sets plain fields of a listing without reading it; callers enter a lane first (`inLane`). Changes nothing and returns
 * null if there is no such listing, or if it is not known whether the listing would then still have an allowed size:
 * `changeFields` measures it.
 */
export async function setPlainFields(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  { owner_id, id }: Pick<StoredListing, 'owner_id' | 'id'>,
  sent: PlainFields,
): Promise<WrittenListing | null> {
  const now = clock(owner_id)
  const growth = bytesOf(sent)
  const smallEnough = {
    owner_id,
    id,
    'measured.bytes': { $lte: maxBytes - growth },
    // Otherwise something else was written since, such as prices.
    $expr: { $eq: ['$measured.at', '$updated_at'] },
  }
  const fields: Record<string, unknown> = { updated_at: now, 'measured.at': now }
  for (const [field, value] of Object.entries(sent)) fields[`content.${field}`] = value
  if (sent.name !== undefined) fields.name_key = nameKeyOf(sent.name)
  const update = { $set: fields, $inc: { revision: 1, 'measured.bytes': growth } }
  const options = { projection: shownColumns, returnDocument: 'after' } as const
  const { collection } = listingModel(db)
  const found = await collection.findOneAndUpdate(smallEnough, update, options)
  return found as (WrittenListing & { _id: Types.ObjectId }) | null
}

function originalIdTaken(): DomainError {
  const message = 'Another listing has this "original_id"'
  return new DomainError('listing_conflict', message, [{ path: 'original_id', code: 'conflict', message }])
}

/** Returns the prices of a listing's room types in their stored form, by room type id. */
function pricesOf({ room_types }: ListingContent): Record<string, NonNullable<StoredRoomType['prices']>> {
  const known: Record<string, NonNullable<StoredRoomType['prices']>> = {}
  for (const { id, prices } of room_types) if (prices && Object.keys(prices).length > 0) known[id] = prices
  return known
}

/** Returns the database fields to set for the room types whose prices have changed. */
function changedPrices(before: ListingContent, after: ListingContent): Record<string, unknown> {
  const known = pricesOf(before)
  const changed = Object.entries(pricesOf(after)).filter(
    ([id, prices]) => !isDeepStrictEqual(prices, known[id]),
  )
  return Object.fromEntries(changed.map(([id, prices]) => [`prices.${id}`, prices]))
}

/** Returns the database fields with the prices that were merged with others, and the values that they had. */
function pricesAsRead(before: ListingContent, after: ListingContent): Record<string, unknown> {
  const known = new Map(before.room_types.map(({ id, prices }) => [id, prices]))
  const merged = after.room_types.filter(({ id, prices }) => known.has(id) && prices !== known.get(id))
  return Object.fromEntries(merged.map(({ id }) => [`prices.${id}`, known.get(id) ?? null]))
}

function contentFields(content: ListingContent) {
  const room_types = content.room_types.map(({ prices: _, ...roomType }) => roomType)
  const stored = { ...content, room_types }
  return { content: stored, calendar_room_types: calendarRoomTypesOf(content), ...indexFieldsOf(content) }
}

function statusFields(status: ListingStatus) {
  return { listing_status: status, status_rank: listingStatuses.indexOf(status) }
}

/**
 * Returns the listing with this id from any host, for administrators.
 *
 * @throws DomainError `not_found`
 */
export async function findListingOfAnyHost(db: Db, id: number): Promise<ListingWithPrices> {
  const found = await listingModel(db).findOne({ id }).lean()
  if (!found) throw notFound('Listing')
  return toListing(found)
}

/**
 * Sets a listing's status, for administrators. The calendars of an inactive listing are not read, and block nothing
 * (decisions §31).
 *
 * @throws DomainError `not_found`
 */
export async function setListingStatus(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  which: { id: number; owner_id: number },
  status: ListingStatus,
): Promise<ListingWithPrices> {
  const now = clock(which.owner_id)
  const changed = { ...statusFields(status), updated_at: now }
  const found = await listingModel(db).findOneAndUpdate(which, { $set: changed }, { new: true }).lean()
  if (!found) throw notFound('Listing')
  const listing = { owner_id: which.owner_id, listing_id: which.id }
  if (status === 'inactive') await stopCalendars(db, listing)
  else await resumeCalendars(db, listing, now)
  return toListing(found)
}
