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

/** A case with its result so far. */
export interface Case {
  name: CaseName
  status: 'waiting' | 'passed' | 'failed' | 'skipped'
  /** Why the case failed or was skipped, as a sentence for the partner. */
  because: string | null
  request_ids: string[]
}

/** Values that a step stores for whichever process continues it. */
export type Memo = Record<string, unknown>

const stepFields = {
  /** Unique for each attempt at a step. */
  id: text,
  index: number,
  /**
   * A step is stored before it is played, so a process that takes over may play it again, which does no harm. Held
   * requests are answered only once, before the step is played for the first time.
   */
  state: word<'begun' | 'released' | 'played'>(),
  /** 1 or 2. A step that fails by timeout is played a second time before the failure counts. */
  attempt: number,
  began_at: moment,
  /**
   * Number of requests that earlier steps have seen. Later requests belong to this step. It is a count because no
   * two clocks agree.
   */
  after: number,
  played_at: momentOrNull,
  /** A number that grows as the product advances, and the time at which it last grew. */
  progress: number,
  progress_at: moment,
  memo: mixed<Memo>(),
}

const fields = {
  _id: number,
  key_id: number,
  /** Id of the key's host. It is not `host_id`, because documents with a `host_id` are deleted with their sandbox. */
  of_host: number,
  /** Scope of the sandbox in which the certification runs; null until the sandbox is filled. */
  scope: numberOrNull,
  seed: text,
  profiles: list<Profile>(String),
  status: word<'running' | 'passed' | 'failed' | 'expired'>(),
  started_at: moment,
  ended_at: momentOrNull,
  cases: list<Case>(Object),
  step: objectOrNull(stepFields),
  /** The action that the product is asked for; null until the sandbox is filled, and after the end. */
  next: mixedOrNull<Next>(),
  /** The longest pause between two reads of the feed, in milliseconds. */
  pace: number,
  /** Number of requests seen when the first sync was complete; null until then. */
  synced_after: numberOrNull,
  /** Facts that later steps need from earlier ones, such as ids of bookings and the nights that were asked for. */
  facts: mixed<Memo>(),
  /** Secret for hashing bodies and `Idempotency-Key`s; null once the certification has ended. */
  secret: textOrNull,
  /** Number of requests seen, whether recorded or only counted. */
  requests: number,
  /** Changes with each write, so that two processes never overwrite each other's changes. */
  revision: number,
  /** When the records are swept once more for late requests; null while running and after that sweep. */
  sweep_at: momentOrNull,
  expires_at: moment,
}

/** A certification: the course that is played, its progress and its grades. */
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
  /** Number of the request within its certification, counted from 1. */
  ordinal: number,
  /** The route with its method. */
  operation: text,
  /** When the request arrived, and when its response was about to be sent. */
  at: moment,
  answered_at: moment,
  request_id: textOrNull,
  status: number,
  fault: textOrNull,
  /** Number of bookings that were delivered in a version that no earlier request had delivered. */
  delivered: number,
  /** True for a page of the feed; the next two fields describe that page. */
  is_page: flag,
  is_first: flag,
  /** A version after which the page begins; null for the beginning of the feed. */
  from: momentOrNull,
  items: number,
  nights: number,
  body_hash: textOrNull,
  key_hash: textOrNull,
  expires_at: moment,
}

/** A request as recorded by a certification, without any value that was sent. Deleted when the run ends. */
export type RequestRecord = Stored<typeof recordFields>

const recordSchema = schemaOf(recordFields)
recordSchema.index({ certification_id: 1, ordinal: 1 }, { name: 'certification_request' })
recordSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'certification_request_expiry' })

export const requestRecordModel = modelOf<RequestRecord>('certification_requests', recordSchema)

const deliveryFields = {
  /** Certification, booking and version, so that each version of a booking is stored once per run. */
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
 * A booking as delivered to the product by a response. A sandbox holds 5,000 documents and a booking has at most three
 * versions, so a run has fewer than 15,000 deliveries.
 */
export type Delivery = Stored<typeof deliveryFields>

const deliverySchema = schemaOf(deliveryFields)
deliverySchema.index({ certification_id: 1 }, { name: 'certification_delivery' })
deliverySchema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'certification_delivery_expiry' })

export const deliveryModel = modelOf<Delivery>('certification_deliveries', deliverySchema)
