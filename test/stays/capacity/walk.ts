import { addDays } from '../../../src/core/clock.ts'

/**
 * What happened to one room type, in order. Nights are numbered from 0; each event takes one second. It says the same as
 * `src/stays/capacity/`, but slowly: night by night, and by what each push knew instead of positions and versions.
 */
export type Event =
  | { kind: 'push'; from: number; to: number; available: number; informed: number | null }
  | { kind: 'book'; from: number; to: number }
  | { kind: 'cancel'; booking: number }
  | { kind: 'read'; room: number; blocks: { from: number; to: number }[] }

export interface WalkedNight {
  available: number | null
  booked: number
  blocked: number
  left: number | null
}

interface Booking {
  id: number
  from: number
  to: number
}

interface Block {
  from: number
  to: number
  room: number
  seen: number
  bookingId: number | null
}

/** A push and what it knew: ids of bookings, and rooms with the event that blocked the night. */
interface Push {
  available: number
  bookings: Set<number>
  taken: Set<string>
}

/** Walks over a history and returns the nights as they are at its end. */
export function walk(
  events: Event[],
  { nights, rooms, today }: { nights: number; rooms: number; today: number },
): WalkedNight[] {
  const bookings: Booking[] = []
  const readings = new Map<number, Block[]>()
  const cancelled = new Set<number>()
  for (const [index, event] of events.entries()) {
    if (event.kind === 'book') bookings.push({ id: index, from: event.from, to: event.to })
    if (event.kind === 'cancel') cancelled.add(event.booking)
    if (event.kind !== 'read') continue
    const before = readings.get(event.room) ?? []
    const now: Block[] = []
    for (const { from, to } of event.blocks) {
      if (now.some((one) => one.from === from && one.to === to)) continue
      const seen = before.find((one) => one.from === from && one.to === to)?.seen ?? index
      now.push({ from, to, room: event.room, seen, bookingId: null })
    }
    readings.set(event.room, now)
  }
  const active = bookings.filter(({ id }) => !cancelled.has(id))
  nameOwn(active, [...readings.values()].flat(), today)
  const walkNight = (night: number): WalkedNight => {
    const takenSince = new Map<number, number>()
    const known: number[] = []
    let push: Push | null = null
    /** What had been taken after each event, so that a push with `informed` can look back. */
    const taken: { event: number; key: string }[] = []
    for (const [index, event] of events.entries()) {
      if (event.kind === 'read') {
        const isBlocked = event.blocks.some(({ from, to }) => from <= night && night < to)
        if (!isBlocked) takenSince.delete(event.room)
        else if (!takenSince.has(event.room)) {
          takenSince.set(event.room, index)
          taken.push({ event: index, key: `${event.room} since ${index}` })
        }
      }
      if (event.kind === 'book') known.push(index)
      if (event.kind !== 'push' || night < event.from || event.to < night) continue
      const last = event.informed ?? index
      push = {
        available: event.available,
        bookings: new Set(known.filter((id) => id <= last)),
        taken: new Set(taken.filter((one) => one.event <= last).map(({ key }) => key)),
      }
    }
    const booked = active.filter(
      ({ id, from, to }) => from <= night && night < to && !push?.bookings.has(id),
    ).length
    let blocked = 0
    for (const [room, blocks] of readings) {
      if (night < today) continue
      const isForeign = blocks.some(
        ({ from, to, bookingId }) => bookingId === null && from <= night && night < to,
      )
      if (isForeign && !push?.taken.has(`${room} since ${takenSince.get(room)}`)) blocked += 1
    }
    const available = push?.available ?? (readings.size > 0 ? rooms : null)
    return {
      available,
      booked,
      blocked,
      left: available === null ? null : Math.max(0, available - booked - blocked),
    }
  }
  return Array.from({ length: nights }, (_, night) => walkNight(night))
}

/** Names the blocks that are bookings: over and over, the earliest booking and its earliest block, equal dates first. */
function nameOwn(active: Booking[], blocks: Block[], today: number): void {
  const isEqual = (one: Booking, block: Block) => one.from === block.from && one.to === block.to
  const isRunning = (one: Booking, block: Block) =>
    one.to === block.to && one.from < block.from && block.from <= today
  for (const isSame of [isEqual, isRunning])
    for (const booking of active.toSorted((one, other) => one.id - other.id)) {
      if (blocks.some(({ bookingId }) => bookingId === booking.id)) continue
      const [first] = blocks
        .filter((block) => block.bookingId === null && isSame(booking, block))
        .sort((one, other) => one.seen - other.seen || one.room - other.room || one.from - other.from)
      if (first) first.bookingId = booking.id
    }
}

const origin = '2027-03-01'
const day = (night: number) => addDays(origin, night)
const second = (event: number) => new Date(Date.UTC(2027, 0, 1, 0, 0, event))

/** Returns the same history as the service would have stored it: rows in force, stays, blocks, blocked nights. */
export function store(
  events: Event[],
  { nights, rooms, today }: { nights: number; rooms: number; today: number },
) {
  const rowOf = Array.from({ length: nights }, () => null as number | null)
  const stays = new Map<number, { from: number; to: number }>()
  const byRoom = new Map<
    number,
    { blocks: Map<string, { from: number; to: number; seen: number }>; since: (number | null)[] }
  >()
  for (const [index, event] of events.entries()) {
    if (event.kind === 'push')
      for (let night = event.from; night <= event.to && night < nights; night += 1) rowOf[night] = index
    if (event.kind === 'book') stays.set(index, event)
    if (event.kind === 'cancel') stays.delete(event.booking)
    if (event.kind !== 'read') continue
    const room = byRoom.get(event.room) ?? { blocks: new Map(), since: Array(nights + 20).fill(null) }
    const next = new Map<string, { from: number; to: number; seen: number }>()
    const isBlocked = Array<boolean>(nights + 20).fill(false)
    for (const { from, to } of event.blocks) {
      const key = `${from}/${to}`
      next.set(key, room.blocks.get(key) ?? { from, to, seen: index })
      isBlocked.fill(true, from, to)
    }
    room.blocks = next
    room.since = isBlocked.map((isTaken, night) => (isTaken ? (room.since[night] ?? index) : null))
    byRoom.set(event.room, room)
  }
  return {
    rows: rowOf.flatMap((index, night) => {
      const push = index === null ? null : events[index]
      if (index === null || push?.kind !== 'push') return []
      const as_of = push.informed === null ? null : second(push.informed)
      return [
        { start_date: day(night), end_date: day(night), available: push.available, sequence: index, as_of },
      ]
    }),
    stays: [...stays].map(([id, { from, to }]) => ({
      id,
      checkin_at: day(from),
      checkout_at: day(to),
      created_at: second(id),
      created_sequence: id,
      created_version: second(id),
    })),
    calendars: [...byRoom].map(([room_id, { blocks, since }]) => ({
      room_id,
      hasBeenRead: true,
      blocks: [...blocks.values()].map(({ from, to, seen }) => ({
        start_date: day(from),
        end_date: day(to),
        seen_at: second(seen),
      })),
      blockedNights: since.flatMap((event, night) =>
        event === null ? [] : [{ from: day(night), to: day(night), sequence: event, at: second(event) }],
      ),
    })),
    rooms,
    today: day(today),
  }
}

/** Returns the first and last of the walked nights. */
export function walkedNights(nights: number): { from: string; to: string } {
  return { from: day(0), to: day(nights - 1) }
}
