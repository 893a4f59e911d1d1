import type { Failure } from '../../http/request.ts'
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
  /** Assigned when the request is recorded, so that a repeated write stores it only once. Ids sort by arrival. */
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

/** A request made with a key. */
export type StoredRequest = Stored<typeof requestFields>

const request = schemaOf(requestFields)
request.index({ host_id: 1, key_id: 1, failed: 1, _id: -1 }, { name: 'request_of_key' })
request.index({ request_id: 1 }, { name: 'request_id' })
request.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'request_expiry' })

export const requestModel = modelOf<StoredRequest>('requests', request)

const countsFields = {
  /** Made up of the key or address, the hour and the journal, so that no two processes write to the same document. */
  _id: text,
  host_id: number,
  key_id: number,
  /**
   * Client network whose failed authentications are counted; absent for a key. A network's host id and key id are 0.
   */
  address: textOrNull,
  hour: moment,
  /** Counts by minute of the hour, from 0 to 59. */
  minutes: mixed<Record<string, KindCounts>>(),
  /** Number of the last batch added to this document. */
  batch: number,
  expires_at: moment,
}

/** One process's counts for one hour, by minute: a key's requests, or a client network's failed authentications. */
export type RequestCounts = Stored<typeof countsFields>

const counts = schemaOf(countsFields)
counts.index({ host_id: 1, key_id: 1, hour: 1 }, { name: 'count_hour' })
counts.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'count_expiry' })

export const requestCountsModel = modelOf<RequestCounts>('request_counts', counts)
