import { expect, onTestFinished, test } from 'vitest'
import { type Attempt, createClient, PartnerError } from '../../client/src/index.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../support/calendars.ts'
import { ownDatabase } from '../support/databases.ts'
import { serve } from '../support/served.ts'

const service = await serve({ MONGODB_URL: await ownDatabase() })
const stay = { start_date: dayFromNow(3), end_date: dayFromNow(5) }
const file = calendarOf([[stay.start_date, stay.end_date]])

/** Creates a listing in the sandbox whose rooms have a calendar each, and a client that counts its attempts. */
async function roomsWithCalendars(count: number) {
  const server = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
  server.serve('/room', file)
  const actor = await service.actor()
  const urls = Array.from({ length: count }, () => `${server.url}/room`)
  const { listing_id, roomIds } = await listingWithCalendars(actor, urls, '/sandbox')
  const made: Attempt[] = []
  const onRequest = (attempt: Attempt) => void made.push(attempt)
  const client = createClient({ key: actor.key, baseUrl: service.url, sandbox: true, onRequest })
  return { client, made, listing_id, roomIds: roomIds as [number, ...number[]] }
}

test('calendars.list() yields the calendars of all pages, and resolves to the first page', async () => {
  const { client, listing_id, roomIds } = await roomsWithCalendars(3)
  const query = { listing_id, per_page: 2 }
  const all: number[] = []
  for await (const { room_id, status } of client.calendars.list(query))
    if (status === 'waiting') all.push(room_id)
  const first = await client.calendars.list(query)
  expect({ all, first: first.map(({ room_id }) => room_id) }).toEqual({
    all: roomIds,
    first: roomIds.slice(0, 2),
  })
  expect(await client.calendars.list({ listing_id, status: ['ok'] })).toEqual([])
})

test('calendars.read() and get() return the calendar itself, and a reading that is too early is not repeated', async () => {
  const { client, made, roomIds } = await roomsWithCalendars(1)
  const [room] = roomIds
  const read = await client.calendars.read(room)
  expect(read).toMatchObject({ room_id: room, status: 'ok', nights: 2, blocks: [stay] })
  expect(await client.calendars.get(room)).toEqual(read)
  made.length = 0
  const error = await client.calendars.read(room).catch((one) => one)
  expect(error).toBeInstanceOf(PartnerError)
  expect({ type: error.type, waits: error.retryAfterSeconds > 0, attempts: made.length }).toEqual({
    type: 'conflict',
    waits: true,
    attempts: 1,
  })
  expect(await client.calendars.read(room, { accept: true })).toMatchObject({ status: 'ok' })
})

test('calendars.check() takes the text of a file, or a body that names a room', async () => {
  const { client, roomIds } = await roomsWithCalendars(1)
  const [room] = roomIds
  const expected = { blocks: [stay], skipped: [], events: { read: 1, blocking: 1, skipped: 0 } }
  expect(await client.calendars.check(file)).toEqual(expected)
  expect(await client.calendars.check({ text: file, room_id: room })).toEqual(expected)
  const refused = await client.calendars.check('<html></html>').catch((one) => one)
  expect(refused.errors).toMatchObject([{ path: 'text', code: 'invalid' }])
})
