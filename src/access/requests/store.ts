import type { RequestEntry } from '../../http/request.ts'
import { keepNewest } from '../../platform/mongo/collections.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { ignoreDuplicates } from '../../platform/mongo/errors.ts'
import { lowestId, type RequestCriteria, requestFilter } from './criteria.ts'
import { kindOf } from './kinds.ts'
import { requestModel, type StoredRequest } from './model.ts'

/**
 * Number of entries per key that a trim keeps. Between trims, a key may have up to 10,000 failures and 1,100 other
 * entries (decisions §18).
 */
export const keptEntries = { failures: 9900, others: 1000 } as const
const dayMilliseconds = 86_400_000
/** Retention period of failures. */
export const failureMilliseconds = 7 * dayMilliseconds
/** Retention period of all other entries. Without it, entries of unused keys would be kept forever. */
const otherMilliseconds = 90 * dayMilliseconds

/** Number of entries per database write, small enough that other requests can be served between writes. */
const entriesPerWrite = 500

/** Identifies one of a key's two series of requests: failures or all others. */
export type RequestSeries = Pick<StoredRequest, 'host_id' | 'key_id' | 'failed'>

/** Converts an entry to its stored form. */
export function toStoredRequest(key: { id: number; hostId: number }, entry: RequestEntry): StoredRequest {
  const failed = kindOf(entry.status) !== 'succeeded'
  const kept = failed ? failureMilliseconds : otherMilliseconds
  return {
    _id: Bun.randomUUIDv7('hex', entry.at),
    host_id: key.hostId,
    key_id: key.id,
    failed,
    ...entry,
    expires_at: new Date(entry.at.getTime() + kept),
  }
}

/** Stores entries, skipping any that are already stored. */
export async function insertRequests(db: Db, requests: StoredRequest[]): Promise<void> {
  const { collection } = requestModel(db)
  for (let start = 0; start < requests.length; start += entriesPerWrite) {
    const part = requests.slice(start, start + entriesPerWrite)
    await ignoreDuplicates(() => collection.insertMany(part, { ordered: false }))
  }
}

/** Deletes all but a series' newest entries; see {@link keptEntries}. */
export async function trimSeries(db: Db, { host_id, key_id, failed }: RequestSeries): Promise<void> {
  const count = failed ? keptEntries.failures : keptEntries.others
  await keepNewest(requestModel(db), { host_id, key_id, failed }, count)
}

/** An entry with its opaque id and the ids of its host and key. */
export interface LoggedRequest extends RequestEntry {
  id: string
  host_id: number
  key_id: number
}

/**
 * Returns up to `limit` matching requests, newest first.
 *
 * @param now current time; failures older than a week are omitted even if the database has not deleted them yet
 */
export async function findRequests(
  db: Db,
  question: RequestCriteria,
  limit: number,
  now: Date,
): Promise<LoggedRequest[]> {
  const weekAgo = new Date(now.getTime() - failureMilliseconds)
  const found = await requestModel(db)
    .find(requestFilter(question, weekAgo))
    .sort({ _id: -1 })
    .limit(limit)
    .lean()
  return found.map(({ _id, failed: _, expires_at: __, ...entry }) => ({ id: _id, ...entry }))
}

/** The number of stored entries that share a status and either an address or a method and path. */
export interface EntryCount {
  of: string
  status: number
  count: number
}

/**
 * Counts the stored entries that arrived at `since` or later. Only commands may call this function, because it reads
 * the entries of all keys.
 */
export async function countEntries(db: Db, by: 'address' | 'path', since: Date): Promise<EntryCount[]> {
  const of = by === 'address' ? '$address' : { $concat: ['$method', ' ', '$path'] }
  const found = await requestModel(db)
    .aggregate<{ _id: Omit<EntryCount, 'count'>; count: number }>([
      { $match: { _id: { $gte: lowestId(since) } } },
      { $group: { _id: { of, status: '$status' }, count: { $sum: 1 } } },
    ])
    .allowDiskUse(true)
  return found.map(({ _id, count }) => ({ ..._id, count }))
}
