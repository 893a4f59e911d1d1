import { Schema } from 'mongoose'
import type { RequestEntry } from '../http/request-entry.ts'
import { modelOf } from '../platform/mongo/collections.ts'
import type { KindCounts } from './kinds.ts'

/** An entry with its place in the bucket, which stays when others are left out. */
export interface StoredEntry extends RequestEntry {
  n: number
}

/** Requests that one process saw of one key, in one document: failures apart from the others. */
export interface RequestBucket {
  _id: string
  host_id: number
  key_id: number
  failed: boolean
  /** Arrival of the earliest and the latest of its entries. */
  from: Date
  to: Date
  count: number
  /** Each status that its entries have. */
  statuses: number[]
  entries: StoredEntry[]
  /** Number of the last batch that was added. */
  batch: number
  expires_at: Date
}

const bucket = new Schema<RequestBucket>({
  _id: { type: String, required: true },
  host_id: { type: Number, required: true },
  key_id: { type: Number, required: true },
  failed: { type: Boolean, required: true },
  from: { type: Date, required: true },
  to: { type: Date, required: true },
  count: { type: Number, required: true },
  statuses: { type: [Number], required: true },
  entries: { type: Schema.Types.Mixed, required: true } as never,
  batch: { type: Number, required: true },
  expires_at: { type: Date, required: true },
})
// With `count`, what is to be trimmed is found in the index alone.
bucket.index({ host_id: 1, to: -1, key_id: 1, failed: 1, count: 1 }, { name: 'request_bucket' })
bucket.index({ to: -1 }, { name: 'request_time' })
bucket.index({ 'entries.request_id': 1 }, { name: 'request_id' })
bucket.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'request_expiry' })

export const requestBucketModel = modelOf<RequestBucket>('request_buckets', bucket)

/** How many requests of one key one process counted, by minute of an hour. */
export interface RequestCounts {
  /** Of key, hour and journal, so that no two processes write to one. */
  _id: string
  host_id: number
  key_id: number
  hour: Date
  /** By the number of the minute, from 0 to 59. */
  minutes: Record<string, KindCounts>
  /** Number of the last batch that was added. */
  batch: number
  expires_at: Date
}

const counts = new Schema<RequestCounts>({
  _id: { type: String, required: true },
  host_id: { type: Number, required: true },
  key_id: { type: Number, required: true },
  hour: { type: Date, required: true },
  minutes: { type: Schema.Types.Mixed, required: true },
  batch: { type: Number, required: true },
  expires_at: { type: Date, required: true },
})
counts.index({ host_id: 1, key_id: 1, hour: 1 }, { name: 'count_hour' })
counts.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'count_expiry' })

export const requestCountsModel = modelOf<RequestCounts>('request_counts', counts)
