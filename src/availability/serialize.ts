import type { Db } from '../infra/mongo.ts'
import { type AvailabilityQuery, type ListingAvailability, readRows } from './read.ts'

/** Characters that are put together before they are handed on. */
const pieceLength = 65_536

/** The answer to `GET …/availability` as JSON text, read and written piece by piece. */
export async function* serializeAvailability(
  db: Db,
  hostId: number,
  listings: ListingAvailability[],
  { start_date, end_date }: AvailabilityQuery,
  meta: object,
): AsyncGenerator<string> {
  const roomTypeIds = listings.flatMap((listing) => listing.roomTypeIds)
  const rows = readRows(db, hostId, roomTypeIds, { from: start_date, to: end_date })
  let text = '{"data":{"availabilities":{'
  for (const [index, listing] of listings.entries()) {
    text += `${index === 0 ? '' : ','}"${listing.listingId}":{`
    for (const [place, id] of listing.roomTypeIds.entries()) {
      const { value } = await rows.next()
      text += `${place === 0 ? '' : ','}"${id}":${JSON.stringify(value)}`
      if (text.length < pieceLength) continue
      yield text
      text = ''
    }
    text += '}'
  }
  yield `${text}}},"meta":${JSON.stringify(meta)}}`
}
