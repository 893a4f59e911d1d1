import { modelOf } from '../platform/mongo/collections.ts'
import {
  flag,
  list,
  mixed,
  mixedOrNull,
  moment,
  momentOrNull,
  number,
  numberOrNull,
  objectOrNull,
  type Stored,
  schemaOf,
  text,
  textOrNull,
  word,
} from '../platform/mongo/fields.ts'
import type { CaseName, Profile } from './cases.ts'
import type { Next } from './next.ts'

/** What became of a case so far. */
export interface Case {
  name: CaseName
  status: 'waiting' | 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped, in a sentence for the partner. */
  because: string | null
  request_ids: string[]
}

/** What a step remembers, whichever process goes on with it. */
export type Memo = Record<string, unknown>

const stepFields = {
  /** Differs for every time that any step begins. */
  id: text,
  index: number,
  /**
   * It is stored before it is played: a process that takes over plays it once more, which does no harm. Requests that are
   * held are answered once, before the first time.
   */
  state: word<'begun' | 'released' | 'played'>(),
  /** A failed case of waiting is played once more before it counts. */
  attempt: number,
  began_at: moment,
  /** Requests that earlier steps have seen: its own are those that came later. By count, because no two clocks agree. */
  after: number,
  played_at: momentOrNull,
  /** How far the product has come, and when it last came further. */
  progress: number,
  progress_at: moment,
  memo: mixed<Memo>(),
}

const fields = {
  _id: number,
  key_id: number,
  /** The host of the key. Not its `host_id`: that names the sandbox, and goes with it. */
  of_host: number,
  /** The sandbox it runs in; null until that is filled. */
  scope: numberOrNull,
  seed: text,
  profiles: list<Profile>(String),
  status: word<'running' | 'passed' | 'failed' | 'expired'>(),
  started_at: moment,
  ended_at: momentOrNull,
  cases: list<Case>(Object),
  step: objectOrNull(stepFields),
  /** What the product is asked to do now. */
  next: mixedOrNull<Next>(),
  /** The longest pause between two reads of the feed, in milliseconds. */
  pace: number,
  /** Requests that were seen when the first sync was complete. */
  synced_after: numberOrNull,
  /** What later steps need to know of earlier ones: ids of bookings, nights that were asked for. */
  facts: mixed<Memo>(),
  /** With which bodies and `Idempotency-Key`s are hashed; null once it has ended. */
  secret: textOrNull,
  /** Requests seen, recorded or only counted. */
  requests: number,
  /** Changes with each write: two processes never write over each other. */
  revision: number,
  /** When its records are swept once more, for what came late; null once they were. */
  sweep_at: momentOrNull,
  expires_at: moment,
}

/** One certification: the course that is played, how far it is, and how it was graded. */
export type Certification = Stored<typeof fields>
export type Step = NonNullable<Certification['step']>

const schema = schemaOf(fields)
schema.index({ key_id: 1, _id: -1 }, { name: 'certification_key' })
schema.index(
  { key_id: 1 },
  { unique: true, name: 'certification_running', partialFilterExpression: { status: 'running' } },
)
schema.index({ status: 1 }, { name: 'certification_status' })
schema.index({ sweep_at: 1 }, { name: 'certification_sweep' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'certification_expiry' })

export const certificationModel = modelOf<Certification>('certifications', schema)

const recordFields = {
  certification_id: number,
  /** Which one of the certification it is, counted from 1. */
  ordinal: number,
  /** The route with its method. */
  operation: text,
  /** When it arrived, and when its response was about to be sent. */
  at: moment,
  answered_at: moment,
  request_id: textOrNull,
  status: number,
  fault: textOrNull,
  /** How many bookings it delivered that no earlier request had delivered in that version. */
  delivered: number,
  /** Of a page of the feed. */
  is_page: flag,
  is_first: flag,
  /** The version after which it began; null for the beginning. */
  from: momentOrNull,
  /** Where it began is not known. */
  is_vague: flag,
  items: number,
  nights: number,
  body_hash: textOrNull,
  key_hash: textOrNull,
  expires_at: moment,
}

/** A request as a certification remembers it: no value that was sent. Gone with the run. */
export type RequestRecord = Stored<typeof recordFields>

const recordSchema = schemaOf(recordFields)
recordSchema.index({ certification_id: 1, ordinal: 1 }, { name: 'certification_request' })
recordSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'certification_request_expiry' })

export const requestRecordModel = modelOf<RequestRecord>('certification_requests', recordSchema)

const deliveryFields = {
  /** Certification, booking and version: each version of a booking is stored once a run. */
  _id: text,
  certification_id: number,
  booking_id: number,
  version: moment,
  status: text,
  checkin_at: text,
  checkout_at: text,
  expires_at: moment,
}

/**
 * A booking as a response delivered it to the product. A sandbox holds 5,000 documents and a booking has at most three
 * versions, so a run has fewer than 15,000 deliveries.
 */
export type Delivery = Stored<typeof deliveryFields>

const deliverySchema = schemaOf(deliveryFields)
deliverySchema.index({ certification_id: 1 }, { name: 'certification_delivery' })
deliverySchema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'certification_delivery_expiry' })

export const deliveryModel = modelOf<Delivery>('certification_deliveries', deliverySchema)
