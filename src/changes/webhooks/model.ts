import type { Types } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import {
  flag,
  list,
  listOf,
  mixed,
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
  wordOrNull,
} from '../../platform/mongo/fields.ts'
import type { Hint, HintFault, WebhookEvent } from './hint.ts'
import type { ConnectionDetail, PostFailure } from './post.ts'
import type { DisabledReason } from './schema.ts'

const secretFields = { secret_id: text, sealed: text, ends_at: momentOrNull }
const gapFields = { bookings_after: moment, messages_after: moment }

/** The feeds' versions after which hints may be missing. */
export type HintGap = Stored<typeof gapFields>

const fields = {
  host_id: number,
  id: number,
  url: text,
  events: list<WebhookEvent>(String),
  enabled: flag,
  disabled_at: momentOrNull,
  disabled_reason: wordOrNull<DisabledReason>(),
  /** Id of the key that created the endpoint or took it over. */
  created_by: number,
  created_at: moment,
  /**
   * At most two encrypted secrets, newest first. After a rotation, hints are also signed with the previous secret until
   * its `ends_at`.
   */
  secrets: listOf(secretFields),
  /** The versions up to which hints have been created for bookings and for messages. */
  bookings_seen: moment,
  messages_seen: moment,
  /** Time of the first failure since the last success; null if there is none. */
  failing_since: momentOrNull,
  /** Versions after which hints may be missing; set while the endpoint is failing or off. */
  undelivered_since: objectOrNull(gapFields),
  /** The value that `undelivered_since` had when the endpoint was last turned on again. */
  last_outage: objectOrNull(gapFields),
}

/** An endpoint that receives hints. */
export type Webhook = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'webhook_id' })
schema.index({ created_by: 1 }, { name: 'webhook_key' })

export const webhookModel = modelOf<Webhook>('webhooks', schema)

const deliveryFields = {
  host_id: number,
  webhook_id: number,
  event: word<WebhookEvent | 'webhook.test'>(),
  /** The body to send, as an object. */
  payload: mixed<Hint | { type: 'webhook.test'; timestamp: string; data: Record<string, never> }>(),
  /** Booking that the hint concerns; null for a test. */
  booking_id: numberOrNull,
  status: word<'waiting' | 'delivered' | 'failed'>(),
  attempts: number,
  /** True while an attempt is in progress. Stays true if the process dies during the attempt. */
  in_flight: flag,
  response_status: numberOrNull,
  milliseconds: numberOrNull,
  error: wordOrNull<PostFailure>(),
  /** Cause of the connection error, if known. */
  error_detail: wordOrNull<ConnectionDetail>(),
  /** Sandbox fault that was injected into the first attempt. */
  fault: wordOrNull<HintFault['fault']>(),
  /** Fault that a certification injected into the first attempt; never shown. */
  hidden_fault: wordOrNull<HintFault['fault']>(),
  /** Status of the response to the extra post that a fault caused; null if there was no such response. */
  extra_status: numberOrNull,
  /** Time of the next attempt, or the time at which an attempt in progress is presumed lost. */
  next_attempt_at: momentOrNull,
  /** The `traceparent` of the change with the hint's version; null if the change belongs to no trace. */
  trace: textOrNull,
  created_at: moment,
  expires_at: moment,
}

/** A hint to one endpoint, and its outcome. Its `webhook-id` is derived from `_id`. */
export type WebhookDelivery = Stored<typeof deliveryFields> & { _id: Types.ObjectId }

const delivery = schemaOf<typeof deliveryFields, WebhookDelivery>(deliveryFields)
delivery.index({ host_id: 1, webhook_id: 1, _id: -1 }, { name: 'delivery_log' })
// Finished hints are not in these indexes, so the indexes stay small.
const waiting = { partialFilterExpression: { status: 'waiting' } }
const due = { status: 1, host_id: 1, webhook_id: 1, next_attempt_at: 1, _id: 1 } as const
delivery.index(due, { ...waiting, name: 'delivery_due' })
delivery.index({ status: 1, created_at: 1 }, { ...waiting, name: 'delivery_oldest' })
delivery.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'delivery_expiry' })

export const webhookDeliveryModel = modelOf<WebhookDelivery>('webhook_deliveries', delivery)
