import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import type { StatusNumber } from './status.ts'

export interface StoredBooking {
  id: number
  host_id: number
  user_id: number
  listing_id: number
  room_type_id: number
  /** First night, `YYYY-MM-DD`. */
  checkin_at: string
  /** Day after the last night. */
  checkout_at: string
  nights: number
  status: StatusNumber
  currency: string
  price_cents: number
  discount_cents: number
  price_total_cents: number
  security_deposit_cents: number
  special_requests: string | null
  cancellation_reason: string | null
  confirmed_at: Date | null
  canceled_at: Date | null
  /** Place among the host's changes of bookings and availability; decides which availability rows it counts against. */
  created_sequence: number
  created_at: Date
  /** The version: a whole second, unique among the host's bookings. */
  updated_at: Date
}

const number = { type: Number, required: true }
const requiredText = { type: String, required: true }
const text = { type: String, default: null }
const moment = { type: Date, default: null }

const schema = new Schema<StoredBooking>({
  id: number,
  host_id: number,
  user_id: number,
  listing_id: number,
  room_type_id: number,
  checkin_at: requiredText,
  checkout_at: requiredText,
  nights: number,
  status: number,
  currency: requiredText,
  price_cents: number,
  discount_cents: number,
  price_total_cents: number,
  security_deposit_cents: number,
  special_requests: text,
  cancellation_reason: text,
  confirmed_at: moment,
  canceled_at: moment,
  created_sequence: number,
  created_at: { type: Date, required: true },
  updated_at: { type: Date, required: true },
})
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'booking_id' })
schema.index({ host_id: 1, updated_at: 1 }, { unique: true, name: 'booking_version' })
schema.index({ host_id: 1, listing_id: 1, updated_at: 1 }, { name: 'booking_listing_version' })
schema.index({ host_id: 1, room_type_id: 1, checkout_at: 1 }, { name: 'booking_stay' })
schema.index({ id: 1 }, { name: 'booking_number' })

export const bookingModel = modelOf<StoredBooking>('bookings', schema)
