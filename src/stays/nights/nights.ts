import { daysBetween } from '../../core/clock.ts'
import { invalidField } from '../../core/errors.ts'
import { findRoomTypesPage } from '../../inventory/listings/room-types-store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { UnitNight } from '../bookings/units.ts'
import { readNights } from './read-nights.ts'
import type { NightsQuery } from './schema.ts'

/** Maximum number of nights in one request, summed over all room types (decisions §20). */
const maxNights = 20_000

/**
 * Returns the nightly units of one or all of a listing's room types, keyed by listing id, then by room type id.
 *
 * @throws DomainError `not_found` for another host's listing or room type; `validation` for too many nights
 */
export async function findNights(
  db: Db,
  hostId: number,
  { listing_id, room_type_id, start_date, end_date }: NightsQuery,
): Promise<Record<string, Record<string, UnitNight[]>>> {
  const listingId = Number(listing_id)
  const wanted = { listingId, roomTypeId: room_type_id === undefined ? undefined : Number(room_type_id) }
  const { listings } = await findRoomTypesPage(db, hostId, wanted, { page: 1, perPage: 1 })
  const roomTypeIds = listings[0]?.roomTypeIds ?? []
  if (roomTypeIds.length * (daysBetween(start_date, end_date) + 1) > maxNights) {
    const message = `"end_date" must include at most ${maxNights} nights over all room types`
    throw invalidField('end_date', message, 'max')
  }
  const units = await readNights(db, hostId, roomTypeIds, { from: start_date, to: end_date })
  return { [listingId]: Object.fromEntries(units) }
}
