import { Schema } from 'mongoose'
import { modelOf } from '../infra/mongo.ts'
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

/** How much is stored of a room type, so that a write need not read it. */
export interface RoomTypeCount {
  host_id: number
  room_type_id: number
  /** At least as many as are in force; exact after a compaction. */
  most_rows: number
  /** Written since the last compaction. */
  loose_rows: number
  /** The loose rows when a compaction was last asked for. */
  asked_at: number
  /** Place of the last write among the host's changes. */
  sequence: number
}

const countSchema = new Schema<RoomTypeCount>({
  host_id: { type: Number, required: true },
  room_type_id: { type: Number, required: true },
  most_rows: { type: Number, required: true },
  loose_rows: { type: Number, required: true },
  asked_at: { type: Number, required: true },
  sequence: { type: Number, required: true },
})
countSchema.index({ host_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_count' })

export const availabilityCountModel = modelOf<RoomTypeCount>('availability_counts', countSchema)
