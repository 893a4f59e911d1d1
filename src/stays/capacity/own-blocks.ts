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
  const inOrder = stays.toSorted((one, other) => +one.created_at - +other.created_at || one.id - other.id)
  const recognized = new Map<DistinctBlock, number>()
  const blocks = distinctBlocks(calendars)
  const others = recognizeEqual(inOrder, blocks, recognized)
  recognizeMoved(others, { blocks, recognized, today })
  const byBlock = new Map<RoomBlock, number>()
  for (const [{ same }, bookingId] of recognized) for (const block of same) byBlock.set(block, bookingId)
  return byBlock
}

/** Recognizes blocks with a booking's dates. Returns the stays that no block is. */
function recognizeEqual(
  stays: StayToRecognize[],
  blocks: DistinctBlock[],
  recognized: Map<DistinctBlock, number>,
): StayToRecognize[] {
  const byDates = Map.groupBy(blocks, ({ start_date, end_date }) => `${start_date}/${end_date}`)
  // The blocks of each list are taken from its end.
  for (const equal of byDates.values()) equal.reverse()
  return stays.filter(({ id, checkin_at, checkout_at }) => {
    const block = byDates.get(`${checkin_at}/${checkout_at}`)?.pop()
    if (block) recognized.set(block, id)
    return !block
  })
}

/** Recognizes blocks whose start has moved since, of stays that no block is yet. */
function recognizeMoved(
  stays: StayToRecognize[],
  {
    blocks,
    recognized,
    today,
  }: { blocks: DistinctBlock[]; recognized: Map<DistinctBlock, number>; today: string },
): void {
  const mayHaveMoved = blocks.filter((block) => block.start_date <= today && !recognized.has(block))
  const byEnd = Map.groupBy(mayHaveMoved, ({ end_date }) => end_date)
  const latestStarts = new Map<string, string>()
  for (const { id, checkin_at, checkout_at } of stays) {
    const ending = byEnd.get(checkout_at)
    if (!ending) continue
    // Nearly all stays end here, so that thousands of them and of blocks that end together are not compared one by one.
    const latest = latestStarts.get(checkout_at) ?? latestStart(ending)
    latestStarts.set(checkout_at, latest)
    if (latest <= checkin_at) continue
    const index = ending.findIndex(({ start_date }) => start_date > checkin_at)
    const [block] = ending.splice(index, 1) as [DistinctBlock]
    recognized.set(block, id)
    if (block.start_date === latest) latestStarts.delete(checkout_at)
  }
}

function latestStart(blocks: DistinctBlock[]): string {
  let latest = ''
  for (const { start_date } of blocks) if (start_date > latest) latest = start_date
  return latest
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
