import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const rowFields = {
  id: field.number,
  split_id: field.number,
  available: field.number,
  start_date: field.text,
  end_date: field.text,
  updated_at: field.moment,
  /** The booking version up to which `available` is informed; null if it is informed up to the write. */
  as_of: field.momentOrNull,
  sequence: field.number,
  order: field.number,
}

const blockFields = {
  owner_id: field.number,
  listing_id: field.number,
  room_type_id: field.number,
  /** First and last day covered by the rows. */
  from: field.text,
  to: field.text,
  rows: field.listOf(rowFields),
}

/**
 * Rows of one room type. A document holds several rows, because one document per row would cost the database several
 * times as much. A write only adds documents. Overlaying the rows (`overlay.ts`) determines which parts of each row are
 * in force, and an occasional compaction replaces the rows with those parts.
 */
export type AvailabilityBlock = Stored<typeof blockFields>

/** A stored row with the ids of its listing and room type. */
export type StoredRow = Stored<typeof rowFields> & Pick<AvailabilityBlock, 'listing_id' | 'room_type_id'>

const blockSchema = schemaOf(blockFields)
blockSchema.index({ owner_id: 1, room_type_id: 1, to: 1, from: 1 }, { name: 'availability_range' })

export const availabilityBlockModel = modelOf<AvailabilityBlock>('availability_blocks', blockSchema, {
  owner: 'owner_id',
})

const writtenFields = {
  owner_id: field.number,
  room_type_id: field.number,
  /** Number of rows ever written. */
  rows: field.number,
  /** The value of `rows` when a compaction was last requested. */
  asked_at: field.number,
  /** Position of the last write among the host's changes. */
  sequence: field.number,
  /** The latest `as_of` of any row ever written, so that a push in order need not read the rows; null without one. */
  newest_as_of: field.momentOrNull,
  /** Last day that a row has covered; rows are replaced, never taken away. Empty before the first row. */
  last_day: field.text,
}

/** Totals of all writes to a room type, stored so that a write does not have to read the rows. */
export type RoomTypeWritten = Stored<typeof writtenFields>

const writtenSchema = schemaOf(writtenFields)
writtenSchema.index({ owner_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_written_of' })
writtenSchema.index({ owner_id: 1, last_day: 1, room_type_id: 1 }, { name: 'availability_written_until' })

export const availabilityWrittenModel = modelOf<RoomTypeWritten>('availability_written', writtenSchema, {
  owner: 'owner_id',
})

const compactedFields = {
  owner_id: field.number,
  room_type_id: field.number,
  /** The room type's `RoomTypeWritten.rows` at the last compaction. */
  rows: field.number,
  /** Number of rows in force after that compaction. */
  in_force: field.number,
}

/**
 * A room type's state at its last compaction, in a separate document so that a compaction does not conflict with
 * writes.
 */
export type RoomTypeCompacted = Stored<typeof compactedFields>

const compactedSchema = schemaOf(compactedFields)
compactedSchema.index({ owner_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_compacted_of' })

export const availabilityCompactedModel = modelOf<RoomTypeCompacted>(
  'availability_compacted',
  compactedSchema,
  { owner: 'owner_id' },
)
