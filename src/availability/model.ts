import { Schema } from 'mongoose'
import { modelOf } from '../infra/mongo.ts'
import type { AvailabilityRow } from './overlay.ts'

/** All rows of one room type in one document, so that laying a range over them is one atomic write. */
export interface Availability {
  host_id: number
  listing_id: number
  room_type_id: number
  /** Ascending and without overlap. */
  rows: AvailabilityRow[]
}

const rowSchema = new Schema<AvailabilityRow>(
  {
    id: { type: Number, required: true },
    available: { type: Number, required: true },
    start_date: { type: String, required: true },
    end_date: { type: String, required: true },
    updated_at: { type: Date, required: true },
    sequence: { type: Number, required: true },
  },
  { _id: false },
)

const schema = new Schema<Availability>({
  host_id: { type: Number, required: true },
  listing_id: { type: Number, required: true },
  room_type_id: { type: Number, required: true },
  rows: { type: [rowSchema], required: true },
})
schema.index({ host_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_room_type' })

export const availabilityModel = modelOf<Availability>('availability', schema)
