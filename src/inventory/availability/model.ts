import { modelOf } from '../../platform/mongo/collections.ts'
import { moment, number, type Stored, schemaOf, text } from '../../platform/mongo/fields.ts'

const rowFields = {
  host_id: number,
  listing_id: number,
  room_type_id: number,
  id: number,
  split_id: number,
  available: number,
  start_date: text,
  end_date: text,
  updated_at: moment,
  sequence: number,
  order: number,
}

/**
 * A row as it was written, one document each. A write only adds documents; overlaying them (`overlay.ts`) tells which
 * part of each is in force, and now and then a room type is compacted to just that.
 */
export type StoredRow = Stored<typeof rowFields>

const rowSchema = schemaOf(rowFields)
rowSchema.index({ host_id: 1, room_type_id: 1, end_date: 1, start_date: 1 }, { name: 'availability_range' })

export const availabilityRowModel = modelOf<StoredRow>('availability_rows', rowSchema)

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
