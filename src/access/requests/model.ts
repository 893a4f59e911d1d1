import { Schema } from 'mongoose'
import type { RequestEntry } from '../../http/request-entry.ts'
import { modelOf } from '../../platform/mongo/collections.ts'
import type { KindCounts } from './kinds.ts'

/** A request of a key. */
export interface StoredRequest extends RequestEntry {
  /** Made when the request was noted, so that it is stored once however often that is tried; see `entry-id.ts`. */
  _id: string
  host_id: number
  key_id: number
  failed: boolean
  expires_at: Date
}

const request = new Schema<StoredRequest>({
  _id: { type: String, required: true },
  host_id: { type: Number, required: true },
  key_id: { type: Number, required: true },
  failed: { type: Boolean, required: true },
  at: { type: Date, required: true },
  request_id: { type: String, default: null },
  method: { type: String, required: true },
  path: { type: String, required: true },
  status: { type: Number, required: true },
  error: { type: Schema.Types.Mixed, default: null },
  duration_ms: { type: Number, required: true },
  replayed: { type: Boolean, required: true },
  sandbox: { type: Boolean, required: true },
  address: { type: String, required: true },
  expires_at: { type: Date, required: true },
})
request.index({ host_id: 1, key_id: 1, failed: 1, _id: -1 }, { name: 'request_of_key' })
request.index({ request_id: 1 }, { name: 'request_id' })
request.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'request_expiry' })

export const requestModel = modelOf<StoredRequest>('requests', request)

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
