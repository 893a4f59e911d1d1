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
  /** The calendars that failed last, that skipped events, or that had conflicts, by room. */
  calendars: CalendarFacts[]
}

/** Number of listings or calendars in one response, which bounds how long decoding holds the event loop. */
const batchSize = 2000

/** One document of the aggregation, which has one of these forms. */
type Found = { owner_id: number } & (
  | { listing_id: number; is_unpriced: boolean; room_type_ids: number[] }
  /** Room types whose nights are limited by their availability or by a calendar. */
  | { limited: number[] }
  | { calendar: CalendarFacts }
)

/** Returns the facts about the inventory of several owners. An owner with nothing to judge is absent. */
export async function findInventoryFacts(
  db: Db,
  owners: JudgedOwner[],
): Promise<Map<number, InventoryFacts>> {
  if (owners.length === 0) return new Map()
  const found = await listingModel(db)
    .collection.aggregate<Found>(
      [
        ...publishedListings(idsOf(owners)),
        {
          $unionWith: { coll: availabilityWrittenModel(db).collection.name, pipeline: limitedByRows(owners) },
        },
        {
          $unionWith: {
            coll: calendarModel(db).collection.name,
            pipeline: limitedByCalendars(idsOf(owners)),
          },
        },
        { $unionWith: { coll: calendarModel(db).collection.name, pipeline: notedCalendars(idsOf(owners)) } },
      ],
      { batchSize },
    )
    .toArray()
  const byOwner = Map.groupBy(found, ({ owner_id }) => owner_id)
  return new Map([...byOwner].map(([ownerId, ofOwner]) => [ownerId, factsOf(ofOwner)]))
}

function idsOf(owners: JudgedOwner[]): { $in: number[] } {
  return { $in: [...new Set(owners.map(({ ownerId }) => ownerId))] }
}

function factsOf(found: Found[]): InventoryFacts {
  const facts: InventoryFacts = { unpricedListings: [], openListings: [], calendars: [] }
  const limited = new Set(found.flatMap((one) => ('limited' in one ? one.limited : [])))
  for (const one of found) {
    if ('calendar' in one) facts.calendars.push(one.calendar)
    if (!('listing_id' in one)) continue
    const { listing_id, is_unpriced, room_type_ids } = one
    if (is_unpriced) facts.unpricedListings.push(listing_id)
    if (room_type_ids.some((id) => !limited.has(id))) facts.openListings.push(listing_id)
  }
  return facts
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
        listing_id: '$id',
        is_unpriced: { $ne: [{ $setDifference: ['$content.room_types.id', pricedRoomTypes] }, []] },
        room_type_ids: '$content.room_types.id',
      },
    },
  ]
}

/** Room types with a row that ends today or later. The index has all that is read. */
function limitedByRows(owners: JudgedOwner[]) {
  const byDay = Map.groupBy(owners, ({ today }) => today)
  const ranges = [...byDay].map(([today, some]) => ({ owner_id: idsOf(some), last_day: { $gte: today } }))
  return [
    { $match: ranges.length === 1 ? ranges[0] : { $or: ranges } },
    { $group: { _id: '$owner_id', limited: { $push: '$room_type_id' } } },
    { $project: { _id: 0, owner_id: '$_id', limited: 1 } },
  ]
}

/** Room types with a calendar that has been read. The index has all that is read. */
function limitedByCalendars(owner_id: { $in: number[] }) {
  return [
    { $match: { owner_id, has_been_read: true } },
    { $group: { _id: '$owner_id', limited: { $addToSet: '$room_type_id' } } },
    { $project: { _id: 0, owner_id: '$_id', limited: 1 } },
  ]
}

function notedCalendars(owner_id: { $in: number[] }) {
  const isNoted = [
    { status: 'failing' },
    { 'events.skipped': { $gt: 0 } },
    { 'conflicts.0': { $exists: true } },
  ]
  return [
    { $match: { owner_id, $or: isNoted } },
    { $sort: { owner_id: 1, room_id: 1 } },
    {
      $project: {
        _id: 0,
        owner_id: 1,
        calendar: {
          room_id: '$room_id',
          status: '$status',
          set_at: '$set_at',
          read_at: '$read_at',
          refresh_seconds: '$refresh_seconds',
          conflicts: '$conflicts',
          skipped: { $ifNull: ['$events.skipped', 0] },
        },
      },
    },
  ]
}
