import type { Failure } from '../../http/outcome.ts'
import { modelOf } from '../../platform/mongo/collections.ts'
import {
  flag,
  mixed,
  moment,
  number,
  type Stored,
  schemaOf,
  text,
  textOrNull,
} from '../../platform/mongo/fields.ts'
import type { KindCounts } from './kinds.ts'

const requestFields = {
  /** Made when the request was noted, so that it is stored once however often that is tried; sorts by arrival. */
  _id: text,
  host_id: number,
  key_id: number,
  failed: flag,
  at: moment,
  request_id: textOrNull,
  method: text,
  path: text,
  status: number,
  error: mixed<Failure | null>(),
  duration_ms: number,
  replayed: flag,
  sandbox: flag,
  address: text,
  fault: textOrNull,
  expires_at: moment,
}

/** A request of a key. */
export type StoredRequest = Stored<typeof requestFields>

const request = schemaOf(requestFields)
request.index({ host_id: 1, key_id: 1, failed: 1, _id: -1 }, { name: 'request_of_key' })
request.index({ request_id: 1 }, { name: 'request_id' })
request.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'request_expiry' })

export const requestModel = modelOf<StoredRequest>('requests', request)

const countsFields = {
  /** Of key, hour and journal, so that no two processes write to one. */
  _id: text,
  host_id: number,
  key_id: number,
  hour: moment,
  /** By the number of the minute, from 0 to 59. */
  minutes: mixed<Record<string, KindCounts>>(),
  /** Number of the last batch that was added. */
  batch: number,
  expires_at: moment,
}

/** How many requests of one key one process counted, by minute of an hour. */
export type RequestCounts = Stored<typeof countsFields>

const counts = schemaOf(countsFields)
counts.index({ host_id: 1, key_id: 1, hour: 1 }, { name: 'count_hour' })
counts.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'count_expiry' })

export const requestCountsModel = modelOf<RequestCounts>('request_counts', counts)
