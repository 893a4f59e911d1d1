import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'
import type { StatusNumber } from './status.ts'

const fields = {
  id: field.number,
  owner_id: field.number,
  user_id: field.number,
  listing_id: field.number,
  room_type_id: field.number,
  /** First night, `YYYY-MM-DD`. */
  checkin_at: field.text,
  /** Day after the last night. */
  checkout_at: field.text,
  nights: field.number,
  status: field.code<StatusNumber>(),
  currency: field.text,
  /**
   * Decimal places of the currency when the booking was made. They are kept, because an update of ISO 4217 would
   * otherwise move the decimal point of amounts that a guest has agreed to.
   */
  decimal_places: field.number,
  /** Amounts, in minor units of the currency. */
  price_minor: field.number,
  discount_minor: field.number,
  price_total_minor: field.number,
  security_deposit_minor: field.number,
  special_requests: field.textOrNull,
  cancellation_reason: field.textOrNull,
  confirmed_at: field.momentOrNull,
  canceled_at: field.momentOrNull,
  /**
   * Position among the host's changes to bookings and availability. The booking counts against the availability rows
   * that were written before it.
   */
  created_sequence: field.number,
  /**
   * The version that the booking got when it was created. The booking counts against the availability rows that are
   * informed up to an earlier version.
   */
  created_version: field.moment,
  created_at: field.moment,
  /** The booking's version: a whole second, unique among the host's bookings. */
  updated_at: field.moment,
  /** Time at which the guest's data in this booking was erased; null if it has not been erased. */
  erased_at: field.momentOrNull,
  /** The `traceparent` of the change that gave the booking its version; null if that change was not traced. */
  trace: field.textOrNull,
}

export type StoredBooking = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, id: 1 }, { unique: true, name: 'booking_id' })
schema.index({ owner_id: 1, updated_at: 1 }, { unique: true, name: 'booking_version' })
schema.index({ owner_id: 1, listing_id: 1, updated_at: 1 }, { name: 'booking_listing_version' })
schema.index({ owner_id: 1, room_type_id: 1, checkout_at: 1 }, { name: 'booking_stay' })
schema.index({ id: 1 }, { name: 'booking_number' })
schema.index({ owner_id: 1, user_id: 1, id: 1 }, { name: 'booking_user' })

export const bookingModel = modelOf<StoredBooking>('bookings', schema, { owner: 'owner_id' })
