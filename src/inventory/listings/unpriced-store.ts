import type { Db } from '../../platform/mongo/connection.ts'
import { months } from './fields.ts'
import { listingModel } from './model.ts'
import { listingStatuses } from './schema.ts'

/** The fields of a room type's prices that can give a night a price. A price of 0 is a price. */
const priceFields = ['base_price', ...months.map((month) => `price_${month}`)]

/** A field of the room type whose stored prices `$$prices` holds is set. */
const isSet = (field: string) => ({ $ne: [{ $ifNull: [`$$prices.v.${field}`, null] }, null] })

/**
 * Returns the ids, in ascending order, of the owners' published listings that have a room type without any price, so
 * that its nights cost 0. The server compares, so that no listing is sent.
 */
export async function findUnpricedListings(db: Db, ownerIds: number[]): Promise<Map<number, number[]>> {
  if (ownerIds.length === 0) return new Map()
  const found = await listingModel(db)
    .collection.aggregate<{ owner_id: number; id: number }>([
      {
        $match: {
          owner_id: { $in: [...new Set(ownerIds)] },
          status_rank: listingStatuses.indexOf('published'),
        },
      },
      {
        $project: {
          owner_id: 1,
          id: 1,
          unpriced: { $setDifference: ['$content.room_types.id', pricedRoomTypes] },
        },
      },
      { $match: { 'unpriced.0': { $exists: true } } },
      { $project: { _id: 0, owner_id: 1, id: 1 } },
      { $sort: { owner_id: 1, id: 1 } },
    ])
    .toArray()
  const byOwner = new Map<number, number[]>()
  for (const { owner_id, id } of found) byOwner.set(owner_id, [...(byOwner.get(owner_id) ?? []), id])
  return byOwner
}

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
