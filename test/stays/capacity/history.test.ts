import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unitsByNight } from '../../../src/stays/capacity/units.ts'
import { runs } from '../../support/soak.ts'
import { type Event, store, walk, walkedNights } from './walk.ts'

const place = { nights: 12, rooms: 3, today: 4 }

const night = fc.integer({ min: 0, max: place.nights - 1 })
/** Few lengths and starts, so that bookings and blocks often have the same dates. */
const stay = fc
  .record({ from: fc.integer({ min: 0, max: 8 }), length: fc.integer({ min: 1, max: 5 }) })
  .map(({ from, length }) => ({ from, to: from + length }))
const anyEvent = fc.oneof(
  fc.record({
    kind: fc.constant('push' as const),
    first: night,
    other: night,
    available: fc.integer({ min: 0, max: 4 }),
    /** How many events the push is late; null if it does not say. */
    late: fc.option(fc.integer({ min: 0, max: 6 })),
  }),
  stay.map((one) => ({ kind: 'book' as const, ...one })),
  fc.record({ kind: fc.constant('cancel' as const), earlier: fc.nat() }),
  fc.record({
    kind: fc.constant('read' as const),
    room: fc.integer({ min: 1, max: place.rooms }),
    blocks: fc.array(stay, { maxLength: 4 }),
  }),
)

/** A history in which cancellations name earlier bookings, and late pushes earlier events. */
const histories = fc.array(anyEvent, { maxLength: 30 }).map((drawn) => {
  const events: Event[] = []
  for (const [index, event] of drawn.entries()) {
    if (event.kind === 'push') {
      const { first, other, available, late } = event
      const informed = late === null ? null : index - 1 - late
      events.push({
        kind: 'push',
        from: Math.min(first, other),
        to: Math.max(first, other),
        available,
        informed,
      })
    } else if (event.kind === 'cancel') {
      const bookings = events.flatMap(({ kind }, id) => (kind === 'book' ? [id] : []))
      const booking = bookings[event.earlier % Math.max(1, bookings.length)] ?? -1
      events.push({ kind: 'cancel', booking })
    } else events.push(event)
  }
  return events
})

test('the nights agree with a walk over the history, for any pushes, bookings, cancellations and readings', () => {
  fc.assert(
    fc.property(histories, (events) => {
      const nights = unitsByNight(walkedNights(place.nights), store(events, place))
      expect(nights.map(({ date: _, ...counted }) => counted)).toEqual(walk(events, place))
    }),
    runs(500),
  )
})
