import type { PageRequest } from '../../http/pagination.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findRoomTypesPage, type ListingRoomTypes } from '../listings/room-types-store.ts'

/** The query of `GET …/availability`, apart from the page. */
export interface AvailabilityQuery {
  listing_id?: string
  room_type_id?: string
  start_date?: string
  end_date?: string
}

/**
 * One page of the host's listings with the room types that are asked for; their rows are read by `readRows`.
 *
 * @throws DomainError `not_found` for a listing or room type of others
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
