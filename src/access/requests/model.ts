import type { ShownError } from '../../http/request.ts'
import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'
import type { KindCounts } from './kinds.ts'

const requestFields = {
  /** Assigned when the request is recorded, so that a repeated write stores it only once. Ids sort by arrival time. */
  _id: field.text,
  host_id: field.number,
  key_id: field.number,
  failed: field.flag,
  at: field.moment,
  request_id: field.textOrNull,
  method: field.text,
  path: field.text,
  status: field.number,
  error: field.mixed<ShownError | null>(),
  duration_ms: field.number,
  replayed: field.flag,
  sandbox: field.flag,
  address: field.text,
  fault: field.textOrNull,
  expires_at: field.moment,
}

/** A request made with a key. */
export type StoredRequest = Stored<typeof requestFields>

const request = schemaOf(requestFields)
request.index({ host_id: 1, key_id: 1, failed: 1, _id: -1 }, { name: 'request_of_key' })
request.index({ request_id: 1 }, { name: 'request_id' })
request.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'request_expiry' })

export const requestModel = modelOf<StoredRequest>('requests', request)

const countsFields = {
  /**
   * Consists of the key id or address, the hour and the journal's name, so that no two processes write to the same
   * document.
   */
  _id: field.text,
  host_id: field.number,
  key_id: field.number,
  /**
   * Client network whose failed authentications are counted; absent for a key. For a network, the host id and key id
   * are 0.
   */
  address: field.textOrNull,
  hour: field.moment,
  /** Counts by minute of the hour, from 0 to 59. */
  minutes: field.mixed<Record<string, KindCounts>>(),
  /** Number of the last batch added to this document. */
  batch: field.number,
  expires_at: field.moment,
}

/**
 * One process's counts by minute for one hour, either of a key's requests or of a client network's failed
 * authentications.
 */
export type RequestCounts = Stored<typeof countsFields>

const counts = schemaOf(countsFields)
counts.index({ host_id: 1, key_id: 1, hour: 1 }, { name: 'count_hour' })
counts.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'count_expiry' })

export const requestCountsModel = modelOf<RequestCounts, string>('request_counts', counts)
