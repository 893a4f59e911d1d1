import type { RequestEntry } from '../http/request-entry.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { ignoreDuplicates } from '../platform/mongo/errors.ts'
import type { BucketWrite, EntrySeries } from './buckets.ts'
import { type RequestBucket, requestBucketModel } from './model.ts'
import { bucketFilter, entryFilter, type RequestQuestion } from './question.ts'

/** How many entries of a key stay when it is trimmed: at most 10,000 failures, and 1,000 of the others (decisions §18). */
export const keptEntries = { failures: 9900, others: 1000 } as const
const dayMilliseconds = 86_400_000
/** How long failures are kept. */
export const failureMilliseconds = 7 * dayMilliseconds
/** What nobody adds to any more is not kept for ever. */
const otherMilliseconds = 90 * dayMilliseconds

/** Buckets written at once, so that other requests are served in between. */
const bucketsAtOnce = 20

/** Adds entries to their buckets: one write for each bucket. The same batch again changes nothing. */
export async function addEntries(db: Db, batch: number, writes: BucketWrite[]): Promise<void> {
  const { collection } = requestBucketModel(db)
  for (let start = 0; start < writes.length; start += bucketsAtOnce) {
    const operations = writes
      .slice(start, start + bucketsAtOnce)
      .map((write) => bucketOperation(batch, write))
    await ignoreDuplicates(() => collection.bulkWrite(operations as never, { ordered: false }))
  }
}

function bucketOperation(batch: number, { series, bucketId, before, entries }: BucketWrite) {
  const arrivals = entries.map(({ at }) => at.getTime())
  const [from, to] = [new Date(Math.min(...arrivals)), new Date(Math.max(...arrivals))]
  const { host_id, ...others } = series
  const kept = series.failed ? failureMilliseconds : otherMilliseconds
  return {
    updateOne: {
      filter: { _id: bucketId, host_id, batch: { $ne: batch } },
      update: {
        $setOnInsert: others,
        $set: { batch },
        $push: { entries: { $each: entries.map((entry, index) => ({ ...entry, n: before + index })) } },
        $addToSet: { statuses: { $each: [...new Set(entries.map(({ status }) => status))] } },
        $inc: { count: entries.length },
        $min: { from },
        $max: { to, expires_at: new Date(to.getTime() + kept) },
      },
      upsert: true,
    },
  }
}

/** Removes the oldest buckets of a series, as long as enough of it stays. */
export async function trimSeries(db: Db, series: EntrySeries): Promise<void> {
  const keep = series.failed ? keptEntries.failures : keptEntries.others
  const newest = requestBucketModel(db).find(series, { _id: 0, to: 1, count: 1 }).sort({ to: -1 }).lean()
  let kept = 0
  for await (const { to, count } of newest) {
    kept += count
    if (kept < keep) continue
    await requestBucketModel(db).deleteMany({ ...series, to: { $lt: to } })
    return
  }
}

/** An entry with its opaque id, and whose it is. */
export interface LoggedRequest extends RequestEntry {
  id: string
  host_id: number
  key_id: number
}

/**
 * The newest requests first, by arrival and id. The database picks the entries, so that however much is looked
 * through, no more than what is found is read.
 *
 * @param now failures of a week ago are over, also where the database has not removed them yet
 */
export async function findRequests(
  db: Db,
  question: RequestQuestion,
  limit: number,
  now: Date,
): Promise<LoggedRequest[]> {
  const weekAgo = new Date(now.getTime() - failureMilliseconds)
  const wanted = { $filter: { input: '$entries', as: 'entry', cond: entryFilter(question, weekAgo) } }
  const buckets = requestBucketModel(db).collection.aggregate<RequestBucket>(
    [
      { $match: bucketFilter(question) },
      { $sort: { to: -1 } },
      { $project: { host_id: 1, key_id: 1, to: 1, entries: wanted } },
    ],
    { batchSize: 10 },
  )
  const { after } = question
  let found: LoggedRequest[] = []
  for await (const bucket of buckets) {
    const last = found[limit - 1]
    // Buckets overlap in time, but none that follows has a later entry than this one.
    if (last && last.at > bucket.to) break
    const entries = entriesOf(bucket).filter((entry) => !after || newestFirst(after, entry) < 0)
    found = [...found, ...entries].sort(newestFirst).slice(0, limit)
  }
  return found
}

function entriesOf({ _id, host_id, key_id, entries }: RequestBucket): LoggedRequest[] {
  return entries.map(({ n, ...entry }) => ({ ...entry, id: idOf(_id, n), host_id, key_id }))
}

function idOf(bucketId: string, place: number): string {
  return `${bucketId}${place.toString(36).padStart(2, '0')}`
}

type Place = Pick<LoggedRequest, 'at' | 'id'>

function newestFirst(one: Place, other: Place): number {
  return other.at.getTime() - one.at.getTime() || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0)
}
