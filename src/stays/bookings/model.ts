import { modelOf } from '../../platform/mongo/collections.ts'
import {
  code,
  moment,
  momentOrNull,
  number,
  type Stored,
  schemaOf,
  text,
  textOrNull,
} from '../../platform/mongo/fields.ts'
import type { StatusNumber } from './status.ts'

const fields = {
  id: number,
  host_id: number,
  user_id: number,
  listing_id: number,
  room_type_id: number,
  /** First night, `YYYY-MM-DD`. */
  checkin_at: text,
  /** Day after the last night. */
  checkout_at: text,
  nights: number,
  status: code<StatusNumber>(),
  currency: text,
  price_cents: number,
  discount_cents: number,
  price_total_cents: number,
  security_deposit_cents: number,
  special_requests: textOrNull,
  cancellation_reason: textOrNull,
  confirmed_at: momentOrNull,
  canceled_at: momentOrNull,
  /**
   * Position among the host's changes to bookings and availability. The booking counts against the availability rows
   * that were written before it.
   */
  created_sequence: number,
  created_at: moment,
  /** The booking's version: a whole second, unique among the host's bookings. */
  updated_at: moment,
  /** Time at which the guest's data in this booking was erased; null if it has not been erased. */
  erased_at: momentOrNull,
  /** The `traceparent` of the change that gave the booking its version; null if that change belongs to no trace. */
  trace: textOrNull,
}

export type StoredBooking = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'booking_id' })
schema.index({ host_id: 1, updated_at: 1 }, { unique: true, name: 'booking_version' })
schema.index({ host_id: 1, listing_id: 1, updated_at: 1 }, { name: 'booking_listing_version' })
schema.index({ host_id: 1, room_type_id: 1, checkout_at: 1 }, { name: 'booking_stay' })
schema.index({ id: 1 }, { name: 'booking_number' })
schema.index({ host_id: 1, user_id: 1, id: 1 }, { name: 'booking_user' })

export const bookingModel = modelOf<StoredBooking>('bookings', schema)
