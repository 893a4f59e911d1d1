import type { Db } from '../platform/mongo/connection.ts'
import { availabilityWrittenModel } from './availability/model.ts'
import { calendarModel, type StoredCalendar } from './calendars/model.ts'
import { months } from './listings/fields.ts'
import { listingModel } from './listings/model.ts'
import { listingStatuses } from './listings/schema.ts'

/*
 * Reads what the findings about listings and calendars depend on (decisions §29). Health may send eight commands in all,
 * so this is one, over three collections.
 */

/** An owner whose inventory is judged. */
export interface JudgedOwner {
  ownerId: number
  /** `YYYY-MM-DD` in UTC, by the owner's own clock. */
  today: string
}

/** The facts about a calendar from which findings are derived. */
export type CalendarFacts = Pick<
  StoredCalendar,
  'room_id' | 'status' | 'set_at' | 'read_at' | 'refresh_seconds' | 'conflicts'
> & {
  /** Number of events that the last good reading skipped. */
  skipped: number
}

/** What the findings about an owner's inventory depend on. All ids are ascending. */
export interface InventoryFacts {
  /** The published listings that have a room type without any price. */
  unpricedListings: number[]
  /**
   * The published listings that have a room type with neither a row of availability that ends today or later nor a
   * calendar that has been read.
   */
  openListings: number[]
  /** The calendars whose last attempt failed, or whose last good reading skipped events or found conflicts, by room. */
  calendars: CalendarFacts[]
}

/** Maximum number of owners in one command, whose response is one document of at most 16 MB. */
const ownersAtOnce = 10

/** A response, with the facts of all owners. */
interface Found {
  listings: PublishedListings[]
  /** Room types whose nights are limited by a row, and by a calendar. */
  limitedByRows: Limited[]
  limitedByCalendars: Limited[]
  calendars: (CalendarFacts & { owner_id: number })[]
}
/** An owner's published listings, in columns, because a thousand small documents take longer to read than two lists. */
interface PublishedListings {
  /** Id of the owner. */
  _id: number
  ids: number[]
  /** The room types of each listing, in the order of `ids`. */
  room_type_ids: number[][]
  /** The listings that have a room type without any price. */
  unpriced: number[]
}
interface Limited {
  /** Id of the owner. */
  _id: number
  room_type_ids: number[]
}

/**
 * Returns the facts about the inventory of several owners. An owner without listings is absent. For one owner this is one
 * command.
 */
export async function findInventoryFacts(
  db: Db,
  owners: JudgedOwner[],
): Promise<Map<number, InventoryFacts>> {
  const facts = new Map<number, InventoryFacts>()
  const distinct = [...new Map(owners.map((owner) => [owner.ownerId, owner])).values()]
  for (let start = 0; start < distinct.length; start += ownersAtOnce) {
    const some = distinct.slice(start, start + ownersAtOnce)
    const [found] = await findTogether(db, some)
    if (!found) continue
    for (const { ownerId } of some) facts.set(ownerId, factsOf(found, ownerId))
  }
  return facts
}

/** Returns one document, or none if no owner has a listing. */
function findTogether(db: Db, owners: JudgedOwner[]): Promise<Found[]> {
  const owner_id = { $in: owners.map(({ ownerId }) => ownerId) }
  const listings = listingModel(db).collection
  const from = {
    listings: listings.name,
    written: availabilityWrittenModel(db).collection.name,
    calendars: calendarModel(db).collection.name,
  }
  // Whoever has rows or a calendar has a listing.
  return listings
    .aggregate<Found>([
      { $match: { owner_id } },
      { $limit: 1 },
      { $project: { _id: 1 } },
      { $lookup: { from: from.listings, pipeline: publishedListings(owner_id), as: 'listings' } },
      { $lookup: { from: from.written, pipeline: limitedByRows(owners), as: 'limitedByRows' } },
      { $lookup: { from: from.calendars, pipeline: limitedByCalendars(owner_id), as: 'limitedByCalendars' } },
      { $lookup: { from: from.calendars, pipeline: notedCalendars(owner_id), as: 'calendars' } },
    ])
    .toArray()
}

function factsOf(found: Found, ownerId: number): InventoryFacts {
  const limits = [...found.limitedByRows, ...found.limitedByCalendars].filter(({ _id }) => _id === ownerId)
  const limited = new Set(limits.flatMap(({ room_type_ids }) => room_type_ids))
  const listings = found.listings.find(({ _id }) => _id === ownerId)
  const { ids = [], room_type_ids = [], unpriced = [] } = listings ?? {}
  const isOpen = (roomTypeIds: number[] = []) => roomTypeIds.some((id) => !limited.has(id))
  return {
    unpricedListings: unpriced.toSorted(ascending),
    openListings: ids.filter((_, index) => isOpen(room_type_ids[index])).sort(ascending),
    calendars: found.calendars
      .filter(({ owner_id }) => owner_id === ownerId)
      .sort((one, other) => one.room_id - other.room_id),
  }
}

function ascending(one: number, other: number): number {
  return one - other
}

/** The fields of a room type's prices that can give a night a price. A price of 0 is a price. */
const priceFields = ['base_price', ...months.map((month) => `price_${month}`)]

/** A field of the room type whose stored prices `$$prices` holds is set. An absent field and null sort before numbers. */
const isSet = (field: string) => ({ $gt: [`$$prices.v.${field}`, null] })

/** Ids of a listing's room types that have a price. Prices are stored by room type id. */
const pricedRoomTypes = {
  $map: {
    input: {
      $filter: {
        input: { $objectToArray: { $ifNull: ['$prices', {}] } },
        as: 'prices',
        cond: { $or: priceFields.map(isSet) },
      },
    },
    as: 'priced',
    in: { $toDouble: '$$priced.k' },
  },
}

/**
 * The server compares prices, so that no price is sent. One stage does it all: another one, to project or to sort, would
 * build each listing anew, which takes as long as reading it.
 */
function publishedListings(owner_id: { $in: number[] }) {
  const isPriced = { $setIsSubset: ['$content.room_types.id', pricedRoomTypes] }
  return [
    { $match: { owner_id, status_rank: listingStatuses.indexOf('published') } },
    {
      $group: {
        _id: '$owner_id',
        ids: { $push: '$id' },
        room_type_ids: { $push: '$content.room_types.id' },
        unpriced: { $push: { $cond: [isPriced, '$$REMOVE', '$id'] } },
      },
    },
  ]
}

/** Room types with a row that ends today or later. An index has all that is read. */
function limitedByRows(owners: JudgedOwner[]) {
  const ranges = owners.map(({ ownerId, today }) => ({ owner_id: ownerId, last_day: { $gte: today } }))
  return [
    { $match: { $or: ranges } },
    { $group: { _id: '$owner_id', room_type_ids: { $push: '$room_type_id' } } },
  ]
}

/** Room types with a calendar that has been read. An index has all that is read. */
function limitedByCalendars(owner_id: { $in: number[] }) {
  return [
    { $match: { owner_id, has_been_read: true } },
    { $group: { _id: '$owner_id', room_type_ids: { $addToSet: '$room_type_id' } } },
  ]
}

/** Not sorted: for an order by room, the server would read every calendar of the owner by another index. */
function notedCalendars(owner_id: { $in: number[] }) {
  return [
    { $match: { owner_id, is_noted: true } },
    {
      $project: {
        _id: 0,
        owner_id: 1,
        room_id: 1,
        status: 1,
        set_at: 1,
        read_at: 1,
        refresh_seconds: 1,
        conflicts: 1,
        skipped: { $ifNull: ['$events.skipped', 0] },
      },
    },
  ]
}
