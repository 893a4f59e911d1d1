import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import type { WrittenRow } from './overlay.ts'

/**
 * A row as it was written, one document each. A write only adds documents; overlaying them (`overlay.ts`) tells which
 * part of each is in force, and now and then a room type is compacted to just that.
 */
export interface StoredRow extends WrittenRow {
  host_id: number
  listing_id: number
  room_type_id: number
}

const rowSchema = new Schema<StoredRow>({
  host_id: { type: Number, required: true },
  listing_id: { type: Number, required: true },
  room_type_id: { type: Number, required: true },
  id: { type: Number, required: true },
  split_id: { type: Number, required: true },
  available: { type: Number, required: true },
  start_date: { type: String, required: true },
  end_date: { type: String, required: true },
  updated_at: { type: Date, required: true },
  sequence: { type: Number, required: true },
  order: { type: Number, required: true },
})
rowSchema.index({ host_id: 1, room_type_id: 1, end_date: 1, start_date: 1 }, { name: 'availability_range' })

export const availabilityRowModel = modelOf<StoredRow>('availability_rows', rowSchema)

/** The total of all writes to a room type, so that a write need not read the rows. */
export interface RoomTypeWritten {
  host_id: number
  room_type_id: number
  /** Rows written, ever. */
  rows: number
  /** `rows` when a compaction was last requested. */
  asked_at: number
  /** Place of the last write among the host's changes. */
  sequence: number
}

const writtenSchema = new Schema<RoomTypeWritten>({
  host_id: { type: Number, required: true },
  room_type_id: { type: Number, required: true },
  rows: { type: Number, required: true },
  asked_at: { type: Number, required: true },
  sequence: { type: Number, required: true },
})
writtenSchema.index({ host_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_written_of' })

export const availabilityWrittenModel = modelOf<RoomTypeWritten>('availability_written', writtenSchema)

/** The state at the last compaction of a room type. A separate document, so that it conflicts with no write. */
export interface RoomTypeCompacted {
  host_id: number
  room_type_id: number
  /** Rows written until then. */
  rows: number
  /** Rows in force at that time. */
  in_force: number
}

const compactedSchema = new Schema<RoomTypeCompacted>({
  host_id: { type: Number, required: true },
  room_type_id: { type: Number, required: true },
  rows: { type: Number, required: true },
  in_force: { type: Number, required: true },
})
compactedSchema.index({ host_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_compacted_of' })

export const availabilityCompactedModel = modelOf<RoomTypeCompacted>(
  'availability_compacted',
  compactedSchema,
)
