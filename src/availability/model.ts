import { Schema } from 'mongoose'
import { modelOf } from '../platform/mongo/collections.ts'
import type { WrittenRow } from './overlay.ts'

/**
 * A row as it was written, one document each. A write only adds documents; which part of each is in force is
 * told by laying them over each other (`overlay.ts`), and now and then a room type is compacted to just that.
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

/** What all writes to a room type added up to, so that a write need not read the rows. */
export interface RoomTypeWritten {
  host_id: number
  room_type_id: number
  /** Rows written, ever. */
  rows: number
  /** At most as many more rows in force, of all writes together. */
  growth: number
  /** `rows` when a compaction was last asked for. */
  asked_at: number
  /** Place of the last write among the host's changes. */
  sequence: number
}

const writtenSchema = new Schema<RoomTypeWritten>({
  host_id: { type: Number, required: true },
  room_type_id: { type: Number, required: true },
  rows: { type: Number, required: true },
  growth: { type: Number, required: true },
  asked_at: { type: Number, required: true },
  sequence: { type: Number, required: true },
})
writtenSchema.index({ host_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_written_of' })

export const availabilityWrittenModel = modelOf<RoomTypeWritten>('availability_written', writtenSchema)

/** Where the last compaction of a room type was. A document of its own, so that it is in no write's way. */
export interface RoomTypeCompacted {
  host_id: number
  room_type_id: number
  /** What was written until then, as {@link RoomTypeWritten} has it. */
  rows: number
  growth: number
  /** Rows in force then. */
  in_force: number
}

const compactedSchema = new Schema<RoomTypeCompacted>({
  host_id: { type: Number, required: true },
  room_type_id: { type: Number, required: true },
  rows: { type: Number, required: true },
  growth: { type: Number, required: true },
  in_force: { type: Number, required: true },
})
compactedSchema.index({ host_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_compacted_of' })

export const availabilityCompactedModel = modelOf<RoomTypeCompacted>(
  'availability_compacted',
  compactedSchema,
)
