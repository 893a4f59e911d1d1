import type { Types } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'
import type { ConnectionDetail } from '../../platform/outgoing/connection.ts'
import type { AlarmPost, Hint, HintFault, TestPost, WebhookEvent } from './hint.ts'

/** Why a webhook is off. */
export type DisabledReason = 'gone' | 'failing' | 'partner' | 'administrator' | 'key_ended'
/** Reason why a post got no response. */
export type PostFailure = 'timeout' | 'connection' | 'address'
/** What is known about a failed attempt beyond its error or status. */
export type FailureDetail = ConnectionDetail | 'redirect'

const secretFields = { secret_id: field.text, sealed: field.text, ends_at: field.momentOrNull }
const gapFields = { bookings_after: field.moment, messages_after: field.moment }

/** The version in each feed after which hints may be missing. */
export type HintGap = Stored<typeof gapFields>

const fields = {
  owner_id: field.number,
  id: field.number,
  url: field.text,
  events: field.list<WebhookEvent>(String),
  enabled: field.flag,
  disabled_at: field.momentOrNull,
  disabled_reason: field.literalOrNull<DisabledReason>(),
  /** Id of the key that created the webhook or took it over. */
  created_by: field.number,
  created_at: field.moment,
  /**
   * At most two encrypted secrets, newest first. After a rotation, hints are also signed with the previous secret until
   * its `ends_at`.
   */
  secrets: field.listOf(secretFields),
  /** The versions up to which hints have been created for bookings and for messages. */
  bookings_seen: field.moment,
  messages_seen: field.moment,
  /**
   * Changes whenever the webhook is turned on, moves to another origin or asks for `alarm.opened`. An alarm that was
   * sent to it before must then be sent again. No time is compared, because two processes' clocks differ.
   */
  listening_id: field.text,
  /** Time of the first failure since the last success; null if no attempt has failed since then. */
  failing_since: field.momentOrNull,
  /** Versions after which hints may be missing; set while the webhook is failing or off. */
  undelivered_since: field.objectOrNull(gapFields),
  /** The value that `undelivered_since` had when the webhook was last turned on again. */
  last_outage: field.objectOrNull(gapFields),
}

/** A webhook that receives hints. */
export type Webhook = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, id: 1 }, { unique: true, name: 'webhook_id' })
schema.index({ created_by: 1 }, { name: 'webhook_key' })
schema.index({ events: 1, enabled: 1 }, { name: 'webhook_event' })

export const webhookModel = modelOf<Webhook>('webhooks', schema, { owner: 'owner_id' })

const deliveryFields = {
  owner_id: field.number,
  webhook_id: field.number,
  event: field.literal<WebhookEvent | 'webhook.test'>(),
  /** The body to send, as an object. */
  payload: field.mixed<Hint | AlarmPost | TestPost>(),
  /** Booking that the hint concerns; null for a test and for an alarm. */
  booking_id: field.numberOrNull,
  status: field.literal<'waiting' | 'delivered' | 'failed'>(),
  attempts: field.number,
  /** True while an attempt is in progress. Stays true if the process dies during the attempt. */
  in_flight: field.flag,
  response_status: field.numberOrNull,
  milliseconds: field.numberOrNull,
  error: field.literalOrNull<PostFailure>(),
  /** Cause of the connection error, if known; `redirect` if the response was one. */
  error_detail: field.literalOrNull<FailureDetail>(),
  /** Sandbox fault that was injected into the first attempt. */
  fault: field.literalOrNull<HintFault['fault']>(),
  /** Fault that a certification injected into the first attempt; never shown. */
  hidden_fault: field.literalOrNull<HintFault['fault']>(),
  /** Status of the response to the extra post that a fault caused; null if there was no such response. */
  extra_status: field.numberOrNull,
  /** Time of the next attempt, or the time at which an attempt in progress is presumed lost. */
  next_attempt_at: field.momentOrNull,
  /** The `traceparent` of the change with the hint's version; null if the change belongs to no trace. */
  trace: field.textOrNull,
  created_at: field.moment,
  expires_at: field.moment,
}

/** A hint to one webhook, and its outcome. Its `webhook-id` is derived from `_id`. */
export type WebhookDelivery = Stored<typeof deliveryFields> & { _id: Types.ObjectId }

const delivery = schemaOf<typeof deliveryFields, WebhookDelivery>(deliveryFields)
delivery.index({ owner_id: 1, webhook_id: 1, _id: -1 }, { name: 'delivery_log' })
// Finished hints are not in these indexes, so the indexes stay small.
const waiting = { partialFilterExpression: { status: 'waiting' } }
const due = { status: 1, owner_id: 1, webhook_id: 1, next_attempt_at: 1, _id: 1 } as const
delivery.index(due, { ...waiting, name: 'delivery_due' })
delivery.index({ status: 1, created_at: 1 }, { ...waiting, name: 'delivery_oldest' })
delivery.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'delivery_expiry' })

export const webhookDeliveryModel = modelOf<WebhookDelivery>('webhook_deliveries', delivery, {
  owner: 'owner_id',
})
