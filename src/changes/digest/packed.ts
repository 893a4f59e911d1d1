import { type StatusNumber, toStatusWord } from '../../stays/bookings/status.ts'
import type { BookingChange } from '../../stays/bookings/store.ts'
import type { DigestedBooking } from './digest.ts'

/** A host's booking with the fields that digest queries need. */
export interface CachedBooking extends DigestedBooking {
  listing_id: number
  /** Milliseconds since 1970. */
  version: number
}

const columns = ['id', 'listing', 'status', 'checkin', 'checkout', 'version'] as const
type Columns<List> = Record<(typeof columns)[number], List>

/** Changed bookings in the order in which they were read. If a booking occurs more than once, its last entry wins. */
export class ChangedBookings {
  readonly columns: Columns<number[]> = {
    id: [],
    listing: [],
    status: [],
    checkin: [],
    checkout: [],
    version: [],
  }

  /**
   * @param days the host's distinct days, to which new days are added. The columns store a day's position in this list
   */
  constructor(readonly days: Days) {}

  get length(): number {
    return this.columns.id.length
  }

  add({ id, listing_id, status, checkin_at, checkout_at, updated_at }: BookingChange): void {
    this.columns.id.push(id)
    this.columns.listing.push(listing_id)
    this.columns.status.push(status)
    this.columns.checkin.push(this.days.positionOf(checkin_at))
    this.columns.checkout.push(this.days.positionOf(checkout_at))
    this.columns.version.push(updated_at.getTime())
  }
}

/** The distinct check-in and check-out days of a host's bookings. */
export class Days {
  private readonly names: string[] = []
  private readonly positions = new Map<string, number>()

  positionOf(day: string): number {
    const known = this.positions.get(day)
    if (known !== undefined) return known
    this.positions.set(day, this.names.length)
    return this.names.push(day) - 1
  }

  nameOf(position: number): string {
    return this.names[position] as string
  }
}

/**
 * A host's bookings, sorted by id. Each field is stored in a typed array, because a million objects would take ten
 * times the memory and keep the garbage collector busy.
 */
export class PackedBookings {
  private constructor(
    readonly length: number,
    private readonly columns: Columns<Float64Array>,
    readonly days: Days,
  ) {}

  static empty(): PackedBookings {
    return new PackedBookings(0, columnsOf(0), new Days())
  }

  /** Returns the bookings from position `start` up to, but not including, position `end`, like `Array.slice()`. */
  slice(start: number, end: number): CachedBooking[] {
    const last = Math.min(end, this.length)
    return Array.from({ length: Math.max(0, last - start) }, (_, index) => this.at(start + index))
  }

  filter(isWanted: (booking: CachedBooking) => boolean): CachedBooking[] {
    const wanted: CachedBooking[] = []
    for (let position = 0; position < this.length; position += 1) {
      const booking = this.at(position)
      if (isWanted(booking)) wanted.push(booking)
    }
    return wanted
  }

  /** Returns the bookings with the changes applied. */
  with(changed: ChangedBookings): PackedBookings {
    const ids = changed.columns.id
    const idAt = (position: number) => ids[position] as number
    const order = [...ids.keys()].sort((one, other) => idAt(one) - idAt(other) || one - other)
    const merged = columnsOf(this.length + order.length)
    let length = 0
    let old = 0
    const take = (from: Columns<ArrayLike<number>>, position: number) => {
      for (const column of columns) merged[column][length] = from[column][position] as number
      length += 1
    }
    for (const [index, position] of order.entries()) {
      const id = idAt(position)
      const next = order[index + 1]
      if (next !== undefined && idAt(next) === id) continue
      while (this.idAt(old) < id) take(this.columns, old++)
      if (this.idAt(old) === id) old += 1
      take(changed.columns, position)
    }
    while (old < this.length) take(this.columns, old++)
    return new PackedBookings(length, merged, this.days)
  }

  /** Returns the id of the booking at a position, or infinity after the last booking. */
  private idAt(position: number): number {
    return position < this.length ? (this.columns.id[position] as number) : Number.POSITIVE_INFINITY
  }

  private at(position: number): CachedBooking {
    const field = (column: (typeof columns)[number]) => this.columns[column][position] as number
    return {
      booking_id: field('id'),
      listing_id: field('listing'),
      status: toStatusWord(field('status') as StatusNumber),
      checkin_at: this.days.nameOf(field('checkin')),
      checkout_at: this.days.nameOf(field('checkout')),
      version: field('version'),
    }
  }
}

function columnsOf(length: number): Columns<Float64Array> {
  const made = columns.map((column) => [column, new Float64Array(length)])
  return Object.fromEntries(made) as Columns<Float64Array>
}
