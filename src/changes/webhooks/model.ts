import { Schema, type Types } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import type { Sealed } from '../../platform/secrets/secret-box.ts'
import type { Hint, WebhookEvent } from './hint.ts'
import type { DisabledReason } from './reasons.ts'
import type { SendFailure } from './send.ts'

/** One secret of an endpoint, encrypted; after a rotation the one of before signs too, until it ends. */
export interface WebhookSecret extends Sealed {
  ends_at: Date | null
}

/** The versions of the feeds after which hints may be missing. */
export interface HintGap {
  bookings_after: Date
  messages_after: Date
}

/** An endpoint that hints are sent to. */
export interface Webhook {
  host_id: number
  id: number
  /** Keeps their number: each endpoint of a host has one of five slots. */
  slot: number
  url: string
  events: WebhookEvent[]
  enabled: boolean
  disabled_at: Date | null
  disabled_reason: DisabledReason | null
  /** Id of the key that made it. */
  created_by: number
  created_at: Date
  /** Latest first, at most two. */
  secrets: WebhookSecret[]
  /** The versions up to which hints were made of bookings and of messages. */
  bookings_seen: Date
  messages_seen: Date
  /** The first failure after the last success. */
  failing_since: Date | null
  /** From where on hints may be missing: while it fails, or is off. */
  undelivered_since: HintGap | null
  /** What it missed when it was off the last time. */
  last_outage: HintGap | null
  /** Until when a test may be on its way: one at a time. */
  testing_until: Date
  /** When somebody last changed it, or asked for a delivery: the process that sends its hints looks at it. */
  nudged_at: Date
  /** The process that sends its hints, for as long as its lease runs by the database's clock; null for none. */
  lane_owner: string | null
  lane_until: Date
  /** When it is to be looked at although its host does not move: something is due. Null for never. */
  due_at: Date | null
}

const number = { type: Number, required: true }
const requiredText = { type: String, required: true }
const moment = { type: Date, required: true }
const momentOrNull = { type: Date, default: null }

const hintGap = new Schema({ bookings_after: moment, messages_after: moment }, { _id: false })

const schema = new Schema<Webhook>({
  host_id: number,
  id: number,
  slot: number,
  url: requiredText,
  events: { type: [String], required: true },
  enabled: { type: Boolean, required: true },
  disabled_at: momentOrNull,
  disabled_reason: { type: String, default: null },
  created_by: number,
  created_at: moment,
  secrets: {
    type: [
      new Schema({ secret_id: requiredText, sealed: requiredText, ends_at: momentOrNull }, { _id: false }),
    ],
    required: true,
  },
  bookings_seen: moment,
  messages_seen: moment,
  failing_since: momentOrNull,
  undelivered_since: { type: hintGap, default: null },
  last_outage: { type: hintGap, default: null },
  testing_until: moment,
  nudged_at: moment,
  lane_owner: { type: String, default: null },
  lane_until: moment,
  due_at: momentOrNull,
})
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'webhook_id' })
schema.index({ host_id: 1, slot: 1 }, { unique: true, name: 'webhook_slot' })
schema.index({ due_at: 1, lane_until: 1 }, { name: 'webhook_due' })
schema.index({ created_by: 1 }, { name: 'webhook_key' })
schema.index({ lane_owner: 1 }, { name: 'webhook_lane_owner' })

export const webhookModel = modelOf<Webhook>('webhooks', schema)

/** A hint to one endpoint, and what became of it. Its `webhook-id` is made from its `_id`. */
export interface WebhookDelivery {
  _id: Types.ObjectId
  host_id: number
  webhook_id: number
  event: WebhookEvent | 'webhook.test'
  /** The body that is sent, as an object. */
  payload: Hint | { type: 'webhook.test'; timestamp: string; data: Record<string, never> }
  /** Of the change; null for a test. */
  booking_id: number | null
  status: 'waiting' | 'delivered' | 'failed'
  attempts: number
  /** A try is being made, or its process has died. */
  in_flight: boolean
  response_status: number | null
  milliseconds: number | null
  error: SendFailure | null
  /** While a try is made, when it is given up for lost. */
  next_attempt_at: Date | null
  created_at: Date
  expires_at: Date
}

const delivery = new Schema<WebhookDelivery>({
  host_id: number,
  webhook_id: number,
  event: requiredText,
  payload: { type: Schema.Types.Mixed, required: true } as never,
  booking_id: { type: Number, default: null },
  status: requiredText,
  attempts: number,
  in_flight: { type: Boolean, required: true },
  response_status: { type: Number, default: null },
  milliseconds: { type: Number, default: null },
  error: { type: String, default: null },
  next_attempt_at: momentOrNull,
  created_at: moment,
  expires_at: moment,
})
delivery.index({ host_id: 1, webhook_id: 1, _id: -1 }, { name: 'delivery_log' })
delivery.index({ host_id: 1, webhook_id: 1, status: 1, next_attempt_at: 1, _id: 1 }, { name: 'delivery_due' })
delivery.index({ host_id: 1, webhook_id: 1, booking_id: 1, status: 1 }, { name: 'delivery_booking' })
delivery.index({ status: 1, created_at: 1 }, { name: 'delivery_oldest' })
delivery.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'delivery_expiry' })

export const webhookDeliveryModel = modelOf<WebhookDelivery>('webhook_deliveries', delivery)
