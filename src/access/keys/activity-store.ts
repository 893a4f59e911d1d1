import { type ActivityStorage, activityUpdates } from '../../activity/stored-fields.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { keyModel } from './model.ts'

/** Stores what keys have done on live data, in the keys' own documents. */
export function keyActivityStorage(db: Db): ActivityStorage {
  return {
    idOf: ({ keyId }) => keyId,
    async write(activity) {
      const updates = [...activity].flatMap(([id, ofKey]) => activityUpdates({ id }, ofKey))
      await keyModel(db).collection.bulkWrite(updates)
    },
    find: (readers) => Promise.all(readers.map(({ ofKey }) => ofKey())),
  }
}

/** A host and the latest version up to which any of its keys has read the booking feed. */
export interface ReadPosition {
  host_id: number
  read: Date
}

/**
 * Returns the read position of each host that has read the booking feed and still has a key with access to it, furthest
 * behind first.
 */
export function findReadPositions(db: Db, now: Date): Promise<ReadPosition[]> {
  const mayRead = {
    $and: [
      '$active',
      { $in: ['bookings.read', '$permissions'] },
      { $or: [{ $eq: ['$expires_at', null] }, { $gt: ['$expires_at', now] }] },
    ],
  }
  return keyModel(db).aggregate<ReadPosition>([
    { $group: { _id: '$host_id', read: { $max: '$bookings_read' }, mayRead: { $max: mayRead } } },
    { $match: { read: { $ne: null }, mayRead: true } },
    { $project: { _id: 0, host_id: '$_id', read: 1 } },
    { $sort: { read: 1 } },
  ])
}
