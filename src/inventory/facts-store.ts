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

/** A response, with documents of all owners. */
interface Found {
  listings: { owner_id: number; id: number; is_unpriced: boolean; room_type_ids: number[] }[]
  /** Room types whose nights are limited by a row, and by a calendar. */
  limitedByRows: Limited[]
  limitedByCalendars: Limited[]
  calendars: (CalendarFacts & { owner_id: number })[]
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
  const listings = found.listings.filter(({ owner_id }) => owner_id === ownerId)
  const isOpen = ({ room_type_ids }: Found['listings'][number]) =>
    room_type_ids.some((id) => !limited.has(id))
  return {
    unpricedListings: listings.filter(({ is_unpriced }) => is_unpriced).map(({ id }) => id),
    openListings: listings.filter(isOpen).map(({ id }) => id),
    calendars: found.calendars.filter(({ owner_id }) => owner_id === ownerId),
  }
}

/** The fields of a room type's prices that can give a night a price. A price of 0 is a price. */
const priceFields = ['base_price', ...months.map((month) => `price_${month}`)]

/** A field of the room type whose stored prices `$$prices` holds is set. */
const isSet = (field: string) => ({ $ne: [{ $ifNull: [`$$prices.v.${field}`, null] }, null] })

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

/** The server compares prices, so that no price is sent. */
function publishedListings(owner_id: { $in: number[] }) {
  return [
    { $match: { owner_id, status_rank: listingStatuses.indexOf('published') } },
    { $sort: { owner_id: 1, id: 1 } },
    {
      $project: {
        _id: 0,
        owner_id: 1,
        id: 1,
        is_unpriced: { $ne: [{ $setDifference: ['$content.room_types.id', pricedRoomTypes] }, []] },
        room_type_ids: '$content.room_types.id',
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

function notedCalendars(owner_id: { $in: number[] }) {
  return [
    { $match: { owner_id, is_noted: true } },
    { $sort: { owner_id: 1, room_id: 1 } },
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
