import type { StoredListing, StoredRoomType } from '../listings/model.ts'

/**
 * Accepted rates count from the moment they are accepted: whoever reads a listing's prices lays the rates that wait
 * over them. That they are written into the listing later on keeps the pile small and changes nothing that is
 * seen; so no price depends on how much waits, or on whether it can be written.
 */

/** The prices that one rates write sets for one room type; a month sent as null is cleared. */
export type RoomTypePrices = { room_type_id: number } & NonNullable<StoredRoomType['prices']>

/** What {@link withWaitingRates} needs to know of waiting rates. */
export interface Waiting {
  sequence: number
  prices: RoomTypePrices[]
  accepted_at: Date
}

/** Before every place that rates can have. */
const beforeAll = -(2 ** 50)

/** The place of the last rates that are part of a listing's document. */
export function ratesSequenceOf({ rates_sequence }: Pick<StoredListing, 'rates_sequence'>): number {
  return rates_sequence ?? beforeAll
}

/**
 * The listing with the rates that wait for it, as if they were written into it.
 *
 * @param waiting in the order accepted; those that are part of the listing already do not count again
 */
export function withWaitingRates<L extends StoredListing>(listing: L, waiting: Waiting[]): L {
  const due = waiting.filter(({ sequence }) => sequence > ratesSequenceOf(listing))
  const last = due.at(-1)
  if (!last) return listing
  const prices = lastPrices(due)
  const room_types = listing.content.room_types.map((roomType) => {
    const sent = prices.get(roomType.id)
    return sent ? { ...roomType, prices: { ...roomType.prices, ...sent } } : roomType
  })
  const updated_at = new Date(Math.max(last.accepted_at.getTime(), listing.updated_at.getTime()))
  return {
    ...listing,
    content: { ...listing.content, room_types },
    rates_sequence: last.sequence,
    updated_at,
  }
}

/** What several rates writes set in the end, by room type; a month that none of them sent is not there. */
export function lastPrices(waiting: Waiting[]): Map<number, Omit<RoomTypePrices, 'room_type_id'>> {
  const byRoomType = new Map<number, Omit<RoomTypePrices, 'room_type_id'>>()
  for (const { room_type_id, ...prices } of waiting.flatMap((one) => one.prices))
    byRoomType.set(room_type_id, { ...byRoomType.get(room_type_id), ...prices })
  return byRoomType
}
