import type { Db } from '../../platform/mongo/connection.ts'
import type { ListingRoomTypes } from '../listings/room-types-store.ts'
import type { AvailabilityQuery } from './page.ts'
import { readRows } from './rows.ts'

/** Number of characters collected before a chunk is yielded. */
const chunkLength = 65_536

/** Yields the response of `GET …/availability` as JSON text, reading the rows while it yields chunks. */
export async function* streamAvailability(
  db: Db,
  hostId: number,
  listings: ListingRoomTypes[],
  { start_date, end_date }: AvailabilityQuery,
  meta: object,
): AsyncGenerator<string> {
  const roomTypeIds = listings.flatMap((listing) => listing.roomTypeIds)
  const rows = readRows(db, hostId, roomTypeIds, { from: start_date, to: end_date })
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
