import type { PageRequest } from '../../http/pagination.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findRoomTypesPage, type ListingRoomTypes } from '../listings/room-types-store.ts'

/** Query of `GET …/availability` without the page parameters. */
export interface AvailabilityQuery {
  listing_id?: string
  room_type_id?: string
  start_date?: string
  end_date?: string
}

/**
 * Returns one page of the host's listings with the requested room types. `readRows` reads the room types' rows.
 *
 * @throws DomainError `not_found` for another host's listing or room type
 */
export async function findAvailabilityPage(
  db: Db,
  hostId: number,
  query: AvailabilityQuery,
  page: PageRequest,
): Promise<{ listings: ListingRoomTypes[]; total: number }> {
  const wanted = {
    listingId: query.listing_id === undefined ? undefined : Number(query.listing_id),
    roomTypeId: query.room_type_id === undefined ? undefined : Number(query.room_type_id),
  }
  return findRoomTypesPage(db, hostId, wanted, page)
}
