import type { StoredListing, StoredRoomType } from './model.ts'

/**
 * Every reader of a listing's prices overlays the waiting rates: a booking and a write of the listing all that were
 * accepted, a reader those whose job is applied. Writing them into the listing later keeps their number small and
 * changes nothing visible, so no price depends on how much is waiting, or on whether it can be written.
 */

/**
 * The prices that one rates write sets for one room type; a month sent as null is cleared. `index` is the place of the
 * item in its write; an earlier version did not store it.
 */
export type RoomTypePrices = { room_type_id: number; index?: number } & NonNullable<StoredRoomType['prices']>

/**
 * Rates of one listing that have been accepted and are not yet part of its document. A rates write stores one of
 * these for each listing it names.
 */
export interface WaitingRates {
  host_id: number
  listing_id: number
  /** Place among the writes of the host's listings: the order in which rates apply. */
  sequence: number
  prices: RoomTypePrices[]
  accepted_at: Date
}

/** The part of a listing that prices are laid over. */
export type Priced = Pick<StoredListing, 'rates_sequence' | 'updated_at'> & {
  content: { room_types: Pick<StoredRoomType, 'id' | 'prices'>[] }
}

type Waiting = Pick<WaitingRates, 'sequence' | 'prices' | 'accepted_at'>

/** Before every place that rates can have. */
const beforeAll = -(2 ** 50)

/** The place of the last rates that are part of a listing's document. */
export function ratesSequenceOf({ rates_sequence }: Pick<StoredListing, 'rates_sequence'>): number {
  return rates_sequence ?? beforeAll
}

/**
 * The listing as if its waiting rates had been written into it.
 *
 * @param waiting in the order accepted; those already part of the listing are skipped
 */
export function withWaitingRates<L extends Priced>(listing: L, waiting: Waiting[]): L {
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

type SentPrices = Omit<RoomTypePrices, 'room_type_id' | 'index'>

/** What several rates writes set in the end, by room type; a month that none of them sent is absent. */
export function lastPrices(waiting: Waiting[]): Map<number, SentPrices> {
  const byRoomType = new Map<number, SentPrices>()
  for (const { room_type_id, index: _, ...prices } of waiting.flatMap((one) => one.prices))
    byRoomType.set(room_type_id, { ...byRoomType.get(room_type_id), ...prices })
  return byRoomType
}
