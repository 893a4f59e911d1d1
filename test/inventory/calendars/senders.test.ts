import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { type CalendarServer, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'
import { root } from '../../support/processes.ts'

/**
 * Files in the form in which senders write them, through the whole service: the address is set, the file is read, and the
 * entry has these blocks. They were worked out by hand from RFC 5545 and decisions §31, as was the number of nights, in
 * which overlapping blocks count once. It is 1 December 2026, at noon.
 */
const now = Date.parse('2026-12-01T12:00:00Z')
const startedAt = Date.now()
const clock = () => new Date(now + Date.now() - startedAt)
const service = await testApp({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' }, clock)
const actor = await service.actor()
const calendars = '/v1/integrations/provider_one/calendars'

interface Sender {
  name: string
  country?: string
  blocks: string[]
  events: [read: number, blocking: number, skipped: number]
  nights: number
  skipped?: object[]
  /** Whether nights are free: these can be booked, because no block has them. */
  free: string
}

const senders: Sender[] = [
  {
    // All of it is within the 1,095 days, whose last is 30 November 2029.
    name: 'airbnb',
    blocks: ['2026-12-01/2026-12-03', '2026-12-04/2026-12-08', '2027-12-02/2028-12-01'],
    events: [3, 3, 0],
    nights: 2 + 4 + 365,
    free: '2026-12-03',
  },
  {
    name: 'booking-com',
    blocks: ['2026-12-10/2026-12-13', '2026-12-13/2026-12-14'],
    events: [2, 2, 0],
    nights: 3 + 1,
    free: '2026-12-14',
  },
  {
    name: 'vrbo',
    blocks: ['2026-12-20/2026-12-27', '2027-01-10/2027-01-12', '2027-02-01/2027-02-15'],
    events: [4, 3, 0],
    nights: 7 + 2 + 14,
    free: '2026-12-27',
  },
  {
    // The viewing on 15 December takes no night, and the birthday of 6 December is marked as free.
    name: 'google',
    country: 'Japan',
    blocks: [
      '2026-12-24/2026-12-27',
      '2027-01-01/2027-01-02',
      '2027-01-16/2027-01-18',
      '2027-01-22/2027-01-23',
      '2027-03-01/2027-03-03',
      '2027-07-02/2027-07-03',
    ],
    events: [8, 5, 0],
    nights: 3 + 1 + 2 + 1 + 2 + 1,
    free: '2026-12-15',
  },
  {
    name: 'outlook',
    country: 'Germany',
    blocks: [
      '2026-12-02/2026-12-04',
      '2026-12-27/2026-12-28',
      '2027-01-31/2027-02-01',
      '2027-02-28/2027-03-01',
      '2027-03-10/2027-03-12',
    ],
    events: [4, 3, 0],
    nights: 2 + 1 + 1 + 1 + 2,
    free: '2027-04-01',
  },
  {
    // The second of the two stays begins on the day on which the first ends.
    name: 'guesty',
    blocks: [
      '2026-12-05/2026-12-09',
      '2026-12-09/2026-12-11',
      '2027-01-15/2027-01-16',
      '2027-01-20/2027-01-21',
    ],
    events: [5, 4, 1],
    nights: 4 + 2 + 1 + 1,
    skipped: [{ line: 33, reason: 'dates' }],
    free: '2026-12-11',
  },
  {
    // Arrival and departure are events of an hour, which take no night.
    name: 'smoobu',
    blocks: ['2026-12-11/2026-12-14'],
    events: [3, 1, 0],
    nights: 3,
    free: '2026-12-14',
  },
  {
    name: 'tripadvisor',
    country: 'United States',
    blocks: ['2026-12-18/2026-12-21', '2027-01-05/2027-01-07'],
    events: [2, 2, 0],
    nights: 3 + 2,
    free: '2026-12-21',
  },
  {
    // 16:00 UTC is 01:00 of the next day in Japan.
    name: 'tripadvisor',
    country: 'Japan',
    blocks: ['2026-12-19/2026-12-21', '2027-01-05/2027-01-07'],
    events: [2, 2, 0],
    nights: 2 + 2,
    free: '2026-12-18',
  },
  {
    name: 'free-busy',
    blocks: [
      '2026-12-02/2026-12-04',
      '2026-12-10/2026-12-12',
      '2026-12-15/2026-12-16',
      '2026-12-20/2026-12-22',
    ],
    events: [1, 1, 0],
    nights: 2 + 2 + 1 + 2,
    free: '2026-12-24',
  },
]

function newServer(): CalendarServer {
  return startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
}

test.each(senders)(
  'the calendar of a room that $name writes blocks what it should ($country)',
  async (sender) => {
    const server = newServer()
    const file = await Bun.file(join(root, `fixtures/calendars/${sender.name}.ics`)).bytes()
    server.serve('/file', () => new Response(file))
    // The listing's country is known before the file is read.
    const { roomIds, ...ids } = await listingWithCalendars(actor, [null])
    const [roomId] = roomIds
    const { listing_id, room_type_id } = ids
    const rooms = [{ id: roomId, availability: { ical: `${server.url}/file` } }]
    const { status } = await actor.send('PATCH', `/v1/listings/${listing_id}`, {
      body: {
        location: { country: sender.country ?? null },
        room_types: [{ id: room_type_id, rooms }],
      },
    })
    expect(status).toBe(200)
    const entry = async () => (await actor.send('GET', `${calendars}/${roomId}`)).body.data.calendar
    await expect.poll(entry).toMatchObject({ status: 'ok' })
    const [read, blocking, skipped] = sender.events
    const { blocks, ...shown } = await entry()
    expect(shown).toMatchObject({
      events: { read, blocking, skipped },
      nights: sender.nights,
      skipped: sender.skipped ?? [],
      conflicts: [],
    })
    expect(
      blocks.map(({ start_date, end_date }: Record<string, string>) => `${start_date}/${end_date}`),
    ).toEqual(sender.blocks)
    const book = (night: string) => {
      const next = new Date(Date.parse(night) + 86_400_000).toISOString().slice(0, 10)
      return actor.send('POST', '/v1/bookings', { body: { ...ids, checkin_at: night, checkout_at: next } })
    }
    const [firstNight = ''] = sender.blocks[0]?.split('/') ?? []
    const refused = await book(firstNight)
    expect(refused.body.error.errors).toMatchObject([{ path: 'checkin_at', code: 'unavailable' }])
    expect((await book(sender.free)).status).toBe(201)
  },
)
