import type { PageRequest } from '../../http/input/pagination.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findRoomTypesPage, type ListingRoomTypes } from '../listings/room-types-store.ts'
import { readRows } from './rows.ts'

/** Query parameters of `GET …/availability`, except the paging parameters. */
export interface AvailabilityQuery {
  listing_id?: number
  room_type_id?: number
  start_date?: string
  end_date?: string
}

/**
 * Returns one page of the host's listings with the ids of the requested room types, but without their rows.
 *
 * @throws DomainError `not_found` if the host has no such listing or room type
 */
export async function findAvailabilityPage(
  db: Db,
  ownerId: number,
  query: AvailabilityQuery,
  page: PageRequest,
): Promise<{ listings: ListingRoomTypes[]; total: number }> {
  const wanted = { listingId: query.listing_id, roomTypeId: query.room_type_id }
  return findRoomTypesPage(db, ownerId, wanted, page)
}

/** Number of characters collected before a chunk is yielded. */
const chunkLength = 65_536

/** Yields the response body of `GET …/availability` as chunks of JSON text, reading rows as it goes. */
export async function* streamAvailability(
  db: Db,
  ownerId: number,
  { start_date, end_date }: AvailabilityQuery,
  { listings, meta }: { listings: ListingRoomTypes[]; meta: object },
): AsyncGenerator<string> {
  const roomTypeIds = listings.flatMap((listing) => listing.roomTypeIds)
  const rows = readRows(db, ownerId, roomTypeIds, { from: start_date, to: end_date })
  let text = '{"data":{"availabilities":{'
  for (const [index, listing] of listings.entries()) {
    text += `${index === 0 ? '' : ','}"${listing.listingId}":{`
    for (const [index, id] of listing.roomTypeIds.entries()) {
      const { value } = await rows.next()
      text += `${index === 0 ? '' : ','}"${id}":${JSON.stringify(value)}`
      if (text.length < chunkLength) continue
      yield text
      text = ''
    }
    text += '}'
  }
  yield `${text}}},"meta":${JSON.stringify(meta)}}`
}
