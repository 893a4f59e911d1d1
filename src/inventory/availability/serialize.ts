import { toTimestamp } from '../../core/clock.ts'
import type { StoredRow } from './model.ts'
import type { AvailabilityRowResponse } from './schema.ts'

/** A row in force as the contract writes it. */
export function serializeRow(row: StoredRow): AvailabilityRowResponse {
  return {
    id: row.id,
    listing_id: row.listing_id,
    room_type_id: row.room_type_id,
    available: row.available,
    start_date: row.start_date,
    end_date: row.end_date,
    updated_at: toTimestamp(row.updated_at),
  }
}
