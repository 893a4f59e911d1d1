import { expect, onTestFinished, test } from 'vitest'
import { hostClockModel } from '../../../src/host-clock/model.ts'
import { setListingStatus } from '../../../src/inventory/listings/store.ts'
import { testApp } from '../../support/app.ts'
import {
  type CalendarServer,
  calendarOf,
  dayFromNow,
  listingWithCalendars,
  startCalendarServer,
} from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'
import { untilNoon } from '../../support/midnight.ts'

/** The service's clock is ahead by as many seconds. It starts at noon, because what is blocked depends on the day. */
let ahead = untilNoon() / 1000
const clock = () => new Date(Date.now() + ahead * 1000)
const service = await testApp({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' }, clock)
const actor = await service.actor()
const base = '/v1/integrations/provider_one/calendars'

const day = (days: number) => dayFromNow(days, clock())
const stayFrom = (days: number, nights: number): [string, string] => [day(days), day(days + nights)]

const entryOf = async (roomId: number | undefined) =>
  (await actor.send('GET', `${base}/${roomId}`)).body.data.calendar
const readNow = (roomId: number | undefined, body?: object) =>
  actor.send('POST', `${base}/${roomId}/read`, body ? { body } : {})

/** Starts a server of the test's own, because readings at one server take turns. */
function newServer(): CalendarServer {
  return startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
}

/**
 * Reads a calendar after a time, and returns its entry. The service itself may be first, because the calendar may be due
 * by then.
 */
async function readLater(roomId: number | undefined, seconds = 61, body: { accept?: boolean } = {}) {
  ahead += seconds
  const since = clock().getTime()
  for (;;) {
    const { status, body: answer } = await readNow(roomId, body)
    if (status !== 409) {
      expect(status).toBe(200)
      return answer.data.calendar
    }
    const entry = await entryOf(roomId)
    if (!body.accept && Date.parse(entry.attempted_at) >= since) return entry
    await Bun.sleep(20)
  }
}

/** Creates a listing with one room whose calendar has been read. */
async function readRoom(url: string) {
  const made = await listingWithCalendars(actor, [url])
  const [roomId] = made.roomIds
  await expect.poll(async () => (await entryOf(roomId)).status).not.toBe('waiting')
  return { ...made, roomId }
}

test('an address that is set is read at once, and its nights are blocked', async () => {
  const server = newServer()
  server.serve('/first', calendarOf([stayFrom(3, 2)]))
  const { roomId, listing_id, room_type_id } = await readRoom(`${server.url}/first`)
  const entry = await entryOf(roomId)
  expect(entry).toMatchObject({
    listing_id,
    room_type_id,
    room_id: roomId,
    url: `${server.url}/first`,
    status: 'ok',
    error: null,
    response_status: 200,
    held_until: null,
    events: { read: 1, blocking: 1, skipped: 0 },
    nights: 2,
    conflicts: [],
    blocks: [{ start_date: day(3), end_date: day(5), booking_id: null }],
    skipped: [],
  })
  const listed = await actor.send('GET', `${base}?listing_id=${listing_id}`)
  const { blocks: _, skipped: __, ...inList } = entry
  expect(listed.body.data.calendars).toEqual([inList])
  const sent = server.requests.find(({ path }) => path === '/first')
  expect(sent?.headers).toMatchObject({ accept: 'text/calendar' })
  expect(sent?.headers['user-agent']).toMatch(/^partner-interface\/[\d.]+ \(\+http/)
})

test('a night that the calendar of the only room takes cannot be booked, and the nights say why', async () => {
  const server = newServer()
  server.serve('/taken', calendarOf([stayFrom(10, 3)]))
  const { roomId: _, roomIds: __, ...ids } = await readRoom(`${server.url}/taken`)
  const book = (from: number, nights: number) =>
    actor.send('POST', '/v1/bookings', {
      body: { ...ids, checkin_at: day(from), checkout_at: day(from + nights) },
    })
  const refused = await book(11, 1)
  expect(refused.body.error.errors).toMatchObject([{ path: 'checkin_at', code: 'unavailable' }])
  expect((await book(13, 2)).status).toBe(201)
  const query = `listing_id=${ids.listing_id}&start_date=${day(12)}&end_date=${day(15)}`
  const { body } = await actor.send('GET', `/v1/integrations/provider_one/availability/nights?${query}`)
  expect(body.data.nights[ids.listing_id][ids.room_type_id]).toEqual([
    { date: day(12), available: 1, booked: 0, blocked: 1, left: 0 },
    { date: day(13), available: 1, booked: 1, blocked: 0, left: 0 },
    { date: day(14), available: 1, booked: 1, blocked: 0, left: 0 },
    { date: day(15), available: 1, booked: 0, blocked: 0, left: 1 },
  ])
})

test('a booking that comes back in a calendar is counted once, and its block names it', async () => {
  const server = newServer()
  server.serve('/echo', calendarOf([]))
  const { roomId, roomIds: _, ...ids } = await readRoom(`${server.url}/echo`)
  const stay = { checkin_at: day(20), checkout_at: day(25) }
  const { body } = await actor.send('POST', '/v1/bookings', { body: { ...ids, ...stay } })
  server.serve('/echo', calendarOf([stayFrom(20, 5), stayFrom(30, 1)]))
  const entry = await readLater(roomId)
  expect(entry).toMatchObject({ nights: 6, conflicts: [] })
  expect(entry.blocks.map(({ booking_id }: { booking_id: number }) => booking_id)).toEqual([
    body.data.booking_id,
    null,
  ])
})

test('a stay that was sold elsewhere meanwhile is shown as a conflict, and is not refused', async () => {
  const server = newServer()
  server.serve('/late', calendarOf([]))
  const { roomId, roomIds: _, ...ids } = await readRoom(`${server.url}/late`)
  const stay = { checkin_at: day(20), checkout_at: day(22) }
  expect((await actor.send('POST', '/v1/bookings', { body: { ...ids, ...stay } })).status).toBe(201)
  server.serve('/late', calendarOf([stayFrom(21, 3)]))
  expect(await readLater(roomId)).toMatchObject({ status: 'ok', nights: 3, conflicts: [day(21)] })
})

test('whatever a server answers, the blocks stay and the entry says why', async () => {
  const server = newServer()
  const good = calendarOf([stayFrom(40, 4)])
  const redirectTo = (location: string) => () => new Response(null, { status: 302, headers: { location } })
  const text =
    (body: string, status = 200) =>
    () =>
      new Response(body, { status, headers: { 'content-type': 'text/calendar' } })
  server.serve('/loop', redirectTo('/loop'))
  const answers: [string, () => Response | Promise<Response>, object][] = [
    ['nothing', text(''), { error: 'not_a_calendar', response_status: 200 }],
    ['a 204', () => new Response(null, { status: 204 }), { error: 'not_a_calendar', response_status: 204 }],
    ['a page', text('<html><body>Sign in</body></html>'), { error: 'not_a_calendar', response_status: 200 }],
    ['half a file', text(good.slice(0, -20)), { error: 'not_a_calendar', response_status: 200 }],
    ['403', text(good, 403), { error: 'status', response_status: 403 }],
    ['500', text(good, 500), { error: 'status', response_status: 500 }],
    ['an unasked 304', () => new Response(null, { status: 304 }), { error: 'status', response_status: 304 }],
    ['a loop', redirectTo('/loop'), { error: 'redirect', response_status: 302 }],
    ['another scheme', redirectTo('ftp://example.com/a.ics'), { error: 'redirect', response_status: 302 }],
    ['too much', text('x'.repeat(2 * 1024 * 1024 + 1)), { error: 'too_large', response_status: 200 }],
    [
      'too many blocks',
      text(
        calendarOf(
          Array.from({ length: 2001 }, (_, index) =>
            stayFrom(1 + (index % 900), 1 + Math.floor(index / 900)),
          ),
        ),
      ),
      { error: 'too_large', response_status: 200 },
    ],
  ]
  server.serve('/moody', good)
  const { roomId } = await readRoom(`${server.url}/moody`)
  const blocked = (await entryOf(roomId)).blocks
  for (const [name, respond, expected] of answers) {
    server.serve('/moody', respond)
    const entry = await readLater(roomId, 61, { accept: true })
    expect({ name, ...entry }).toMatchObject({
      name,
      status: 'failing',
      ...expected,
      nights: 4,
      blocks: blocked,
    })
  }
  server.serve('/moody', good)
  expect(await readLater(roomId)).toMatchObject({
    status: 'ok',
    error: null,
    response_status: 200,
    nights: 4,
  })
})

test.each([
  ['a port that nobody listens at', 'http://127.0.0.1:9/a.ics', 'refused'],
  ['a name without an address', 'https://calendar.invalid/a.ics', 'dns'],
  ['a server without TLS', 'webcal://127.0.0.1:PORT/first', 'tls'],
  ['an address with a user name', 'https://me:secret@example.com/a.ics', 'address'],
])('%s fails the calendar', async (_, url, error) => {
  const server = newServer()
  const port = new URL(server.url).port
  const { roomIds } = await listingWithCalendars(actor, [url.replace('PORT', port)])
  await expect
    .poll(() => entryOf(roomIds[0]))
    .toMatchObject({ status: 'failing', error, response_status: null })
})

test('an empty file frees nothing for 24 hours, and then every night; or at once, if the host accepts it', async () => {
  const server = newServer()
  server.serve('/held', calendarOf([stayFrom(50, 3)]))
  server.serve('/accepted', calendarOf([stayFrom(50, 3)]))
  const held = await readRoom(`${server.url}/held`)
  const accepted = await readRoom(`${server.url}/accepted`)
  for (const path of ['/held', '/accepted']) server.serve(path, calendarOf([]))
  const entry = await readLater(held.roomId)
  expect(entry).toMatchObject({ status: 'holding', nights: 3 })
  expect(Date.parse(entry.held_until) - Date.parse(entry.read_at)).toBe(24 * 3_600_000)
  // A failure in between ends no holding.
  server.serve('/held', () => new Response('', { status: 500 }))
  expect(await readLater(held.roomId)).toMatchObject({ status: 'failing', held_until: entry.held_until })
  server.serve('/held', calendarOf([]))
  expect(await readLater(held.roomId, 23 * 3600)).toMatchObject({ status: 'holding', nights: 3 })
  expect(await readLater(held.roomId, 3600)).toMatchObject({
    status: 'ok',
    nights: 0,
    held_until: null,
    blocks: [],
  })
  expect(await readLater(accepted.roomId, 0, { accept: true })).toMatchObject({ nights: 0, blocks: [] })
})

test('a tag is sent back, an unchanged file confirms what was missing, and once a day the whole file is asked for', async () => {
  const server = newServer()
  const asked: (string | null)[] = []
  let file = calendarOf([stayFrom(60, 3), stayFrom(70, 1)])
  server.serve('/tagged', (request) => {
    const tag = `"${Bun.hash(file)}"`
    asked.push(request.headers.get('if-none-match'))
    if (request.headers.get('if-none-match') === tag) return new Response(null, { status: 304 })
    return new Response(file, { headers: { etag: tag, 'last-modified': 'Sat, 28 Nov 2026 08:00:00 GMT' } })
  })
  const { roomId } = await readRoom(`${server.url}/tagged`)
  file = calendarOf([stayFrom(60, 3)])
  expect(await readLater(roomId)).toMatchObject({ response_status: 200, nights: 4 })
  expect(await readLater(roomId, 601)).toMatchObject({ status: 'ok', response_status: 304, nights: 3 })
  expect(asked.at(-1)).toBe(`"${Bun.hash(file)}"`)
  expect(await readLater(roomId, 24 * 3600)).toMatchObject({ response_status: 200, nights: 3 })
  expect(asked.at(-1)).toBeNull()
})

test('a new address keeps the blocks until it is read, and then replaces them; without an address they go', async () => {
  const server = newServer()
  server.serve('/before', calendarOf([stayFrom(80, 5)]))
  server.serve('/after', () => new Response('', { status: 503 }))
  const { roomId, room_type_id, listing_id } = await readRoom(`${server.url}/before`)
  const setAddress = (ical: string | null) =>
    actor.send('PATCH', `/v1/listings/${listing_id}`, {
      body: { room_types: [{ id: room_type_id, rooms: [{ id: roomId, availability: { ical } }] }] },
    })
  expect((await setAddress(`${server.url}/after`)).status).toBe(200)
  await expect.poll(() => entryOf(roomId)).toMatchObject({ status: 'failing', read_at: null, nights: 5 })
  server.serve('/after', calendarOf([stayFrom(90, 1)]))
  expect(await readLater(roomId)).toMatchObject({
    status: 'ok',
    nights: 1,
    blocks: [{ start_date: day(90) }],
  })
  await setAddress(null)
  expect((await actor.send('GET', `${base}/${roomId}`)).status).toBe(404)
  const query = `listing_id=${listing_id}&start_date=${day(90)}&end_date=${day(90)}`
  const { body } = await actor.send('GET', `/v1/integrations/provider_one/availability/nights?${query}`)
  expect(body.data.nights[listing_id][room_type_id][0]).toMatchObject({ available: null, blocked: 0 })
})

test('the calendars of an inactive listing block nothing and are not read, until it is active again', async () => {
  const server = newServer()
  server.serve('/idle', calendarOf([stayFrom(5, 2)]))
  const { roomId, listing_id: id } = await readRoom(`${server.url}/idle`)
  const which = { id, owner_id: actor.hostId }
  await setListingStatus(service.live, which, 'inactive')
  expect(await entryOf(roomId)).toMatchObject({
    status: 'waiting',
    next_read_at: null,
    nights: 0,
    blocks: [],
  })
  expect((await readNow(roomId)).status).toBe(409)
  await setListingStatus(service.live, which, 'published')
  service.live.calendars.wake()
  await expect.poll(() => entryOf(roomId)).toMatchObject({ status: 'ok', nights: 2 })
})

test('a host may ask for a reading once in 60 s, whoever made the last one', async () => {
  const server = newServer()
  server.serve('/often', calendarOf([stayFrom(5, 2)]))
  const { roomId } = await readRoom(`${server.url}/often`)
  const early = await readNow(roomId)
  expect(early.status).toBe(409)
  expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await readNow(roomId, { accept: true })).status).toBe(200)
  ahead += 60
  expect((await readNow(roomId)).status).toBe(200)
})

test("another host's room, and a room without an address, have no calendar", async () => {
  const server = newServer()
  const other = await service.actor()
  const { roomIds } = await listingWithCalendars(other, [`${server.url}/first`, null])
  const [foreign, bare] = roomIds
  for (const [who, roomId] of [
    [actor, foreign],
    [other, bare],
  ] as const) {
    expect((await who.send('GET', `${base}/${roomId}`)).status).toBe(404)
    expect((await who.send('POST', `${base}/${roomId}/read`)).status).toBe(404)
  }
  const check = { text: calendarOf([]), room_id: foreign }
  expect((await actor.send('POST', `${base}/check`, { body: check })).status).toBe(404)
  expect((await other.send('POST', `${base}/check`, { body: { ...check, room_id: bare } })).status).toBe(200)
})

test('the list shows the wanted statuses, separated by commas or repeated', async () => {
  const server = newServer()
  const host = await service.actor()
  server.serve('/first', calendarOf([]))
  await listingWithCalendars(host, [`${server.url}/first`, `${server.url}/missing`])
  const statuses = async (query: string) =>
    (await host.send('GET', `${base}${query}`)).body.data.calendars.map(
      ({ status }: { status: string }) => status,
    )
  await expect.poll(() => statuses('')).toEqual(['ok', 'failing'])
  expect(await statuses('?status=failing')).toEqual(['failing'])
  expect(await statuses('?status=ok,failing')).toEqual(['ok', 'failing'])
  expect(await statuses('?status=ok&status=holding')).toEqual(['ok'])
  expect((await host.send('GET', `${base}?status=broken`)).status).toBe(422)
})

test('a check says what a file would block, stores nothing, and refuses what is no calendar', async () => {
  const check = (text: string) => actor.send('POST', `${base}/check`, { body: { text } })
  const { body } = await check(calendarOf([stayFrom(3, 2), stayFrom(-9, 2)]))
  expect(body.data).toEqual({
    blocks: [{ start_date: day(3), end_date: day(5) }],
    skipped: [],
    events: { read: 2, blocking: 1, skipped: 0 },
  })
  expect((await check('<html></html>')).body.error.errors).toMatchObject([{ path: 'text', code: 'invalid' }])
  expect((await check('')).body.error.errors).toMatchObject([{ path: 'text', code: 'invalid' }])
  expect((await check('ä'.repeat(600_000))).body.error.errors).toMatchObject([{ path: 'text', code: 'max' }])
  expect((await check('x'.repeat(3_000_000))).status).toBe(413)
})

test("a reading that only divides nights anew advances the host's clock too, so that a booking sees what it counts", async () => {
  const server = newServer()
  server.serve('/divided', calendarOf([stayFrom(50, 6)]))
  const { roomId } = await readRoom(`${server.url}/divided`)
  const sequence = async () => (await hostClockModel(actor.db).findById(actor.hostId).lean())?.sequence
  const whole = await sequence()
  await readLater(roomId)
  expect(await sequence()).toBe(whole)
  server.serve('/divided', calendarOf([stayFrom(50, 2), stayFrom(52, 4)]))
  expect(await readLater(roomId)).toMatchObject({ nights: 6 })
  expect(await sequence()).toBeGreaterThan(whole as number)
})
