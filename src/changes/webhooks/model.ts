import type { Types } from 'mongoose'
import type { FaultName } from '../../http/fault-rule.ts'
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
  word,
  wordOrNull,
} from '../../platform/mongo/fields.ts'
import type { Hint, WebhookEvent } from './hint.ts'
import type { ConnectionDetail, PostFailure } from './post.ts'
import type { DisabledReason } from './reasons.ts'

const secretFields = { secret_id: text, sealed: text, ends_at: momentOrNull }
const gapFields = { bookings_after: moment, messages_after: moment }

/** One secret of an endpoint, encrypted; after a rotation the one of before signs too, until it ends. */
export type WebhookSecret = Stored<typeof secretFields>

/** The versions of the feeds after which hints may be missing. */
export type HintGap = Stored<typeof gapFields>

const fields = {
  host_id: number,
  id: number,
  /** Keeps their number: each endpoint of a host has one of five slots. */
  slot: number,
  url: text,
  events: list<WebhookEvent>(String),
  enabled: flag,
  disabled_at: momentOrNull,
  disabled_reason: wordOrNull<DisabledReason>(),
  /** Id of the key that made it. */
  created_by: number,
  created_at: moment,
  /** Latest first, at most two. */
  secrets: listOf(secretFields),
  /** The versions up to which hints were made of bookings and of messages. */
  bookings_seen: moment,
  messages_seen: moment,
  /** The first failure after the last success. */
  failing_since: momentOrNull,
  /** From where on hints may be missing: while it fails, or is off. */
  undelivered_since: objectOrNull(gapFields),
  /** The undelivered versions of the last time when it was off. */
  last_outage: objectOrNull(gapFields),
  /** Until when a test may be on its way: one at a time. */
  testing_until: moment,
  /** When it is to be looked at: something is due, or was changed. While it is sent to, when to look if that process dies. Null for never. */
  due_at: momentOrNull,
}

/** An endpoint that hints are sent to. */
export type Webhook = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'webhook_id' })
schema.index({ host_id: 1, slot: 1 }, { unique: true, name: 'webhook_slot' })
schema.index({ due_at: 1 }, { name: 'webhook_due' })
schema.index({ created_by: 1 }, { name: 'webhook_key' })

export const webhookModel = modelOf<Webhook>('webhooks', schema)

const deliveryFields = {
  host_id: number,
  webhook_id: number,
  event: word<WebhookEvent | 'webhook.test'>(),
  /** The body that is sent, as an object. */
  payload: mixed<Hint | { type: 'webhook.test'; timestamp: string; data: Record<string, never> }>(),
  /** Of the change; null for a test. */
  booking_id: numberOrNull,
  status: word<'waiting' | 'delivered' | 'failed'>(),
  attempts: number,
  /** A try is being made, or its process has died. */
  in_flight: flag,
  response_status: numberOrNull,
  milliseconds: numberOrNull,
  error: wordOrNull<PostFailure>(),
  /** What went wrong with the connection, as far as it is known. */
  error_detail: wordOrNull<ConnectionDetail>(),
  /** The fault of the sandbox that its first try met. */
  fault: wordOrNull<FaultName>(),
  /** The same of one that a certification played, which is shown to nobody. */
  course_fault: wordOrNull<FaultName>(),
  /** What the post got that such a fault made beside the true one; null where there was none. */
  extra_status: numberOrNull,
  /** While a try is made, when it is given up for lost. */
  next_attempt_at: momentOrNull,
  created_at: moment,
  expires_at: moment,
}

/** A hint to one endpoint, and what became of it. Its `webhook-id` is made from its `_id`. */
export type WebhookDelivery = Stored<typeof deliveryFields> & { _id: Types.ObjectId }

const delivery = schemaOf<typeof deliveryFields, WebhookDelivery>(deliveryFields)
delivery.index({ host_id: 1, webhook_id: 1, _id: -1 }, { name: 'delivery_log' })
delivery.index({ host_id: 1, webhook_id: 1, status: 1, next_attempt_at: 1, _id: 1 }, { name: 'delivery_due' })
delivery.index({ host_id: 1, webhook_id: 1, booking_id: 1, status: 1 }, { name: 'delivery_booking' })
delivery.index({ status: 1, created_at: 1 }, { name: 'delivery_oldest' })
delivery.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'delivery_expiry' })

export const webhookDeliveryModel = modelOf<WebhookDelivery>('webhook_deliveries', delivery)
