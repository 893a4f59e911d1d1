import { afterAll, expect, test } from 'vitest'
import { createClient } from '../../../client/src/index.ts'
import { type Actor, makeActor, sender, testApp, testEnvironment } from '../../support/app.ts'
import {
  type CalendarServer,
  calendarOf,
  dayFromNow,
  type ListingWithCalendars,
  listingWithCalendars,
  startCalendarServer,
} from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

/*
 * Two services, each a process with a database of its own, read each other's files:
 *
 *   service A ◀── reads ── file of B: its bookings and its blocks
 *       │                        ▲
 *       └── file of A ── read by ┘ service B
 *
 * Each file has what its service has sold and what it has read, as managers' systems write it, so every stay comes back
 * to where it was sold. If a service did not recognize it, the stay would block its own nights.
 */

const rounds = 8 * soakFactor
/** Number of times that both services read after each booking. */
const readings = 3
const provider = '/v1/integrations/provider_one'

type Range = [start: string, end: string]

interface Side {
  name: string
  actor: Actor
  baseUrl: string
  room: ListingWithCalendars
  file: CalendarServer
  /** Number of events that the file had when it was last written. */
  events: number
  sold: Range[]
  /** True if the file also has what the service has read. */
  passesOn: boolean
}

async function startSide(name: string): Promise<Side> {
  const environment = { MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' }
  const observer = await testApp({ ...environment, LOG_LEVEL: 'silent' })
  // Only the process reads.
  await observer.live.calendars.stop()
  const service = await startService({ ...testEnvironment(environment), LOG_LEVEL: 'silent' })
  afterAll(() => service.stop())
  const actor = await makeActor(observer.live, sender(fetch, service.url))
  const file = startCalendarServer((stop) => afterAll(() => stop().then(() => {})))
  const room = await listingWithCalendars(actor, [null])
  return { name, actor, baseUrl: service.url, room, file, events: 0, sold: [], passesOn: true }
}

/**
 * Writes a service's file at each request: an event for each active booking and, if it passes on what it has read, one for
 * each block that is not a booking.
 */
function exportFrom(side: Side): void {
  const client = createClient({ key: side.actor.key, baseUrl: side.baseUrl })
  side.file.serve('/file', async () => {
    const events: Range[] = []
    for await (const { status, checkin_at, checkout_at } of client.bookings.feed())
      if (status !== 'cancelled') events.push([checkin_at.slice(0, 10), checkout_at.slice(0, 10)])
    for (const { start_date, end_date, booking_id } of (await entryOf(side))?.blocks ?? [])
      if (booking_id === null && side.passesOn) events.push([start_date, end_date])
    side.events = events.length
    return new Response(calendarOf(events))
  })
}

async function entryOf({ actor, room }: Side) {
  const { body } = await actor.send('GET', `${provider}/calendars/${room.roomIds[0]}`)
  return body.data?.calendar
}

async function setAddress({ actor, room }: Side, { file }: Side): Promise<void> {
  const rooms = [{ id: room.roomIds[0], availability: { ical: `${file.url}/file` } }]
  const body = { room_types: [{ id: room.room_type_id, rooms }] }
  expect((await actor.send('PATCH', `/v1/listings/${room.listing_id}`, { body })).status).toBe(200)
}

async function read({ actor, room }: Side) {
  const path = `${provider}/calendars/${room.roomIds[0]}/read`
  const { status, body } = await actor.send('POST', path, { body: { accept: true }, repeatWhileBusy: true })
  expect(status).toBe(200)
  expect(body.data.calendar).toMatchObject({ status: 'ok', error: null })
  return body.data.calendar
}

async function book(side: Side, [checkin_at, checkout_at]: Range): Promise<number> {
  const { user_id, listing_id, room_type_id } = side.room
  const body = { user_id, listing_id, room_type_id, checkin_at, checkout_at }
  const { status, body: answer } = await side.actor.send('POST', '/v1/bookings', { body })
  expect({ side: side.name, checkin_at, status }).toEqual({ side: side.name, checkin_at, status: 201 })
  side.sold.push([checkin_at, checkout_at])
  return answer.data.booking_id
}

/** Returns the nights of a service as they can be booked. */
async function nightsOf({ actor, room }: Side, days: number) {
  const { listing_id, room_type_id } = room
  const query = `listing_id=${listing_id}&start_date=${dayFromNow(0)}&end_date=${dayFromNow(days - 1)}`
  const { body } = await actor.send('GET', `${provider}/availability/nights?${query}`)
  return body.data.nights[listing_id][room_type_id]
}

const isIn = (date: string, ranges: Range[]) => ranges.some(([start, end]) => start <= date && date < end)

const one = await startSide('A')
const other = await startSide('B')
for (const side of [one, other]) exportFrom(side)

test('two services that read each other do not echo: each stay takes its nights once on both sides, and nothing grows', async () => {
  await setAddress(one, other)
  await setAddress(other, one)
  for (const side of [one, other])
    await expect.poll(() => entryOf(side), { timeout: 60_000 }).toMatchObject({ status: 'ok' })
  const days = 5 * rounds + 10
  for (let round = 0; round < rounds; round += 1) {
    const [seller, reader] = round % 3 === 0 ? [other, one] : [one, other]
    // Every other stay begins on the day on which the one before ends.
    const first = 5 * round + (round % 2 === 0 ? 3 : 0)
    const last = first + 2
    await book(seller, [dayFromNow(first), dayFromNow(last)])
    for (let reading = 0; reading < readings; reading += 1) {
      await read(reader)
      await read(seller)
    }
    for (const [side, neighbour] of [
      [one, other],
      [other, one],
    ] as const) {
      const expected = Array.from({ length: days }, (_, index) => {
        const date = dayFromNow(index)
        const booked = isIn(date, side.sold) ? 1 : 0
        const blocked = isIn(date, neighbour.sold) ? 1 : 0
        return { date, available: 1, booked, blocked, left: 1 - booked - blocked }
      })
      expect({ side: side.name, round, nights: await nightsOf(side, days) }).toEqual({
        side: side.name,
        round,
        nights: expected,
      })
      const stays = one.sold.length + other.sold.length
      const { blocks, conflicts } = await entryOf(side)
      expect({ side: side.name, round, conflicts, blocks: blocks.length, events: side.events }).toEqual({
        side: side.name,
        round,
        conflicts: [],
        blocks: stays,
        events: stays,
      })
    }
  }
})

test('a cancelled stay is free on both sides, if neither file passes on what was read', async () => {
  for (const side of [one, other]) side.passesOn = false
  const stay: Range = [dayFromNow(300), dayFromNow(303)]
  const id = await book(one, stay)
  for (const side of [other, one]) await read(side)
  const leftOf = async (side: Side) =>
    (await nightsOf(side, 304)).slice(300, 303).map(({ left }: { left: number }) => left)
  expect({ one: await leftOf(one), other: await leftOf(other) }).toEqual({ one: [0, 0, 0], other: [0, 0, 0] })
  expect(
    (await one.actor.send('POST', `/v1/bookings/${id}/cancel`, { body: { reason: 'Ill' } })).status,
  ).toBe(200)
  for (const side of [other, one]) await read(side)
  expect({ one: await leftOf(one), other: await leftOf(other) }).toEqual({ one: [1, 1, 1], other: [1, 1, 1] })
})
