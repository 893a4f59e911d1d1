import { modelOf } from '../../platform/mongo/collections.ts'
import { listOf, moment, number, type Stored, schemaOf, text } from '../../platform/mongo/fields.ts'

const rowFields = {
  id: number,
  split_id: number,
  available: number,
  start_date: text,
  end_date: text,
  updated_at: moment,
  sequence: number,
  order: number,
}

const blockFields = {
  host_id: number,
  listing_id: number,
  room_type_id: number,
  /** The first and the last day that its rows cover. */
  from: text,
  to: text,
  rows: listOf(rowFields),
}

/**
 * Rows of one room type as they were written, some in each document: one for each would cost the database several times
 * as much. A write only adds documents; overlaying the rows (`overlay.ts`) tells which part of each is in force, and now
 * and then a room type is compacted to just that.
 */
export type AvailabilityBlock = Stored<typeof blockFields>

/** A row as it was written, with what it belongs to. */
export type StoredRow = Stored<typeof rowFields> & Pick<AvailabilityBlock, 'listing_id' | 'room_type_id'>

const blockSchema = schemaOf(blockFields)
blockSchema.index({ host_id: 1, room_type_id: 1, to: 1, from: 1 }, { name: 'availability_range' })

export const availabilityBlockModel = modelOf<AvailabilityBlock>('availability_blocks', blockSchema)

const writtenFields = {
  host_id: number,
  room_type_id: number,
  /** Rows written, ever. */
  rows: number,
  /** `rows` when a compaction was last requested. */
  asked_at: number,
  /** Place of the last write among the host's changes. */
  sequence: number,
}

/** The total of all writes to a room type, so that a write need not read the rows. */
export type RoomTypeWritten = Stored<typeof writtenFields>

const writtenSchema = schemaOf(writtenFields)
writtenSchema.index({ host_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_written_of' })

export const availabilityWrittenModel = modelOf<RoomTypeWritten>('availability_written', writtenSchema)

const compactedFields = {
  host_id: number,
  room_type_id: number,
  /** Rows written until then. */
  rows: number,
  /** Rows in force at that time. */
  in_force: number,
}

/** The state at the last compaction of a room type. A separate document, so that it conflicts with no write. */
export type RoomTypeCompacted = Stored<typeof compactedFields>

const compactedSchema = schemaOf(compactedFields)
compactedSchema.index({ host_id: 1, room_type_id: 1 }, { unique: true, name: 'availability_compacted_of' })

export const availabilityCompactedModel = modelOf<RoomTypeCompacted>(
  'availability_compacted',
  compactedSchema,
)
