import type { RequestEntry } from '../http/request-entry.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { BucketWrite, EntrySeries } from './buckets.ts'
import { type RequestBucket, requestBucketModel } from './model.ts'

/** How many entries of a key stay when it is trimmed: at most 10,000 failures, and 1,000 of the others (decisions §18). */
export const keptEntries = { failures: 9900, others: 1000 } as const
/** How long failures are kept. */
export const failureMilliseconds = 7 * 86_400_000

/** Adds entries to their buckets: one write for each bucket. */
export async function addEntries(db: Db, writes: BucketWrite[]): Promise<void> {
  const operations = writes.map(({ series, bucketId, entries }) => {
    const arrivals = entries.map(({ at }) => at.getTime())
    const from = new Date(Math.min(...arrivals))
    const to = new Date(Math.max(...arrivals))
    const expires_at = new Date(to.getTime() + failureMilliseconds)
    return {
      updateOne: {
        filter: { _id: bucketId },
        update: {
          $setOnInsert: { ...series, ...(series.failed ? {} : { expires_at: null }) },
          $push: { entries: { $each: entries } },
          $inc: { count: entries.length },
          $min: { from },
          $max: { to, ...(series.failed ? { expires_at } : {}) },
        },
        upsert: true,
      },
    }
  })
  if (operations.length > 0)
    await requestBucketModel(db).collection.bulkWrite(operations as never, { ordered: false })
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

/** Which requests are looked for; what is left out does not limit. */
export interface RequestQuestion {
  host_id?: number
  key_id?: number
  /** Each a status, or all of a hundred as `4xx`. */
  statuses?: string[] | undefined
  request_id?: string | undefined
  since?: Date | undefined
  /** Only what comes after this one, from new to old. */
  after?: Pick<LoggedRequest, 'at' | 'id'> | undefined
}

/**
 * The newest requests first, by arrival and id.
 *
 * @param now failures of a week ago are over, also where the database has not removed them yet
 */
export async function findRequests(
  db: Db,
  question: RequestQuestion,
  limit: number,
  now: Date,
): Promise<LoggedRequest[]> {
  const isWanted = wantedBy(question, now)
  let found: LoggedRequest[] = []
  const buckets = requestBucketModel(db)
    .collection.find<RequestBucket>(bucketFilter(question))
    .sort({ to: -1 })
  for await (const bucket of buckets) {
    const last = found[limit - 1]
    // Buckets overlap in time, but none that follows has a later entry than this one.
    if (last && last.at > bucket.to) break
    found = [...found, ...entriesOf(bucket).filter(isWanted)].sort(newestFirst).slice(0, limit)
  }
  return found
}

function bucketFilter({ host_id, key_id, statuses, request_id, since, after }: RequestQuestion): object {
  const kinds = new Set(statuses?.map((status) => status >= '4'))
  return {
    ...(host_id === undefined ? {} : { host_id }),
    ...(key_id === undefined ? {} : { key_id }),
    ...(request_id === undefined ? {} : { 'entries.request_id': request_id }),
    ...(since ? { to: { $gte: since } } : {}),
    ...(after ? { from: { $lte: after.at } } : {}),
    ...(kinds.size === 1 ? { failed: kinds.has(true) } : {}),
  }
}

function wantedBy({ statuses, request_id, since, after }: RequestQuestion, now: Date) {
  const weekAgo = new Date(now.getTime() - failureMilliseconds)
  return (entry: LoggedRequest): boolean =>
    (entry.status < 400 || entry.at > weekAgo) &&
    (request_id === undefined || entry.request_id === request_id) &&
    (!since || entry.at >= since) &&
    (!after || newestFirst(after, entry) < 0) &&
    (!statuses || statuses.some((status) => hasStatus(entry, status)))
}

function hasStatus({ status }: LoggedRequest, wanted: string): boolean {
  return wanted.endsWith('xx') ? wanted[0] === String(status)[0] : wanted === String(status)
}

function entriesOf({ _id, host_id, key_id, entries }: RequestBucket): LoggedRequest[] {
  return entries.map((entry, index) => ({
    ...entry,
    id: `${_id}${index.toString(36).padStart(2, '0')}`,
    host_id,
    key_id,
  }))
}

function newestFirst(one: Pick<LoggedRequest, 'at' | 'id'>, other: Pick<LoggedRequest, 'at' | 'id'>): number {
  return other.at.getTime() - one.at.getTime() || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0)
}
