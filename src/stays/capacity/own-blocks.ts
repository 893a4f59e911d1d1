/** A range of nights that the calendar of a room takes. */
export interface RoomBlock {
  start_date: string
  /** Day after the last night. */
  end_date: string
  /** Time of the reading in which the block was first seen. */
  seen_at: Date
}

/** An active stay, as far as blocks are compared with it. */
export interface StayToRecognize {
  id: number
  checkin_at: string
  /** Day after the last night. */
  checkout_at: string
  created_at: Date
}

/** The blocks of a room's calendar. */
interface RoomBlocks {
  room_id: number
  blocks: RoomBlock[]
}

/**
 * Finds the blocks that are bookings of ours, which partners' systems show in their own calendars (decisions §31, "A
 * booking that comes back is counted once"). Without it, every booking that comes back would close another unit.
 *
 * A block is a booking if it has the booking's dates, or if it has the same end and starts after the check-in but not
 * after today, because senders move the start of a running stay. Each booking is at most one block and the reverse;
 * equal ranges of one room are one block. Blocks with a booking's dates are found before blocks whose start has moved,
 * so that of two stays that end together, neither takes the other's block.
 *
 * @param stays the active stays of a room type
 * @param calendars the calendars of the room type's rooms
 * @param today today's date in UTC
 * @returns the id of the booking for each block object that is one
 */
export function recognizeBookings(
  stays: StayToRecognize[],
  calendars: RoomBlocks[],
  today: string,
): Map<RoomBlock, number> {
  const blocks = distinctBlocks(calendars)
  const byEnd = Map.groupBy(blocks, ({ end_date }) => end_date)
  const inOrder = stays.toSorted((one, other) => +one.created_at - +other.created_at || one.id - other.id)
  const recognized = new Map<DistinctBlock, number>()
  const found = new Set<number>()
  const recognize = (isBooking: (block: DistinctBlock, stay: StayToRecognize) => boolean) => {
    for (const stay of inOrder) {
      if (found.has(stay.id)) continue
      const ending = byEnd.get(stay.checkout_at) ?? []
      const block = ending.find((one) => !recognized.has(one) && isBooking(one, stay))
      if (!block) continue
      recognized.set(block, stay.id)
      found.add(stay.id)
    }
  }
  recognize(({ start_date }, { checkin_at }) => start_date === checkin_at)
  recognize(({ start_date }, { checkin_at }) => start_date > checkin_at && start_date <= today)
  const byBlock = new Map<RoomBlock, number>()
  for (const [{ same }, bookingId] of recognized) for (const block of same) byBlock.set(block, bookingId)
  return byBlock
}

/** Blocks of one room with the same nights, which count as one. */
interface DistinctBlock {
  room_id: number
  start_date: string
  end_date: string
  /** The earliest `seen_at` of `same`. */
  seen_at: Date
  same: RoomBlock[]
}

/** Returns the blocks of all rooms in the order in which they were seen, equal ranges of one room as one. */
function distinctBlocks(calendars: RoomBlocks[]): DistinctBlock[] {
  const distinct: DistinctBlock[] = []
  for (const { room_id, blocks } of calendars) {
    const byRange = Map.groupBy(blocks, ({ start_date, end_date }) => `${start_date}/${end_date}`)
    for (const same of byRange.values()) {
      const [first] = same.toSorted((one, other) => +one.seen_at - +other.seen_at) as [RoomBlock]
      distinct.push({
        room_id,
        start_date: first.start_date,
        end_date: first.end_date,
        seen_at: first.seen_at,
        same,
      })
    }
  }
  return distinct.sort(bySeen)
}

function bySeen(one: DistinctBlock, other: DistinctBlock): number {
  if (+one.seen_at !== +other.seen_at) return +one.seen_at - +other.seen_at
  if (one.room_id !== other.room_id) return one.room_id - other.room_id
  return one.start_date < other.start_date ? -1 : 1
}
