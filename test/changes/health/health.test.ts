import { expect, onTestFinished, test } from 'vitest'
import { setListingStatus } from '../../../src/inventory/listings/store.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { limitAllNights } from '../../support/availability.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'
import { untilNoon } from '../../support/midnight.ts'

const minute = 60_000
// At noon, because nights that are open from today on depend on the day.
let ahead = untilNoon()
const clock = () => new Date(Date.now() + ahead)
const url = await ownDatabase()
const service = await testApp({ MONGODB_URL: url, WEBHOOKS_ALLOW_PRIVATE: 'on' }, clock)
const feed = '/v1/integrations/provider_one/bookings'
const messages = '/v1/integrations/provider_one/messages'

const healthOf = async (actor: Actor, root = '/v1') => {
  // A write is noted after its response has been sent.
  await service.logged()
  await Promise.all([service.live.activity.flush(), service.sandbox.activity.flush()])
  const { status, body } = await actor.send('GET', `${root}/health`)
  expect(status).toBe(200)
  return body.data
}
const codesOf = async (actor: Actor, root = '/v1') =>
  (await healthOf(actor, root)).findings.map(({ code }: { code: string }) => code)
const pass = (milliseconds: number) => {
  ahead += milliseconds
}

test('a key that reads its feeds is well, and sees how far it has read them', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const before = await healthOf(actor)
  expect(before).toMatchObject({ status: 'ok', findings: [] })
  expect(before.feeds.bookings).toMatchObject({ read_version: null, read_at: null, unread: null })
  const page = await actor.send('GET', feed)
  await actor.send('GET', messages)
  const version = page.body.data.Bookings.at(-1).version
  const after = await healthOf(actor)
  expect(after.feeds.bookings).toEqual({
    newest_version: version,
    read_version: version,
    read_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    unread: 0,
    oldest_unread_at: null,
  })
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`, { body: {} })
  const behind = await healthOf(actor)
  expect(behind.feeds.bookings).toMatchObject({ read_version: version, unread: 1 })
  expect(behind.feeds.bookings.newest_version > version).toBe(true)
})

test('a feed that is no longer read is a failure after 30 minutes, until it is read again', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  await actor.send('GET', feed)
  await healthOf(actor)
  pass(31 * minute)
  expect(await codesOf(actor)).toEqual([])
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`, { body: {} })
  pass(31 * minute)
  const { status, findings } = await healthOf(actor)
  expect({ status, findings }).toEqual({
    status: 'failing',
    findings: [
      {
        code: 'feed_unread',
        severity: 'failing',
        since: expect.any(String),
        message: expect.stringContaining('1 change is unread'),
        guide: expect.stringMatching(/\/guide\/quiet-or-broken#feed_unread$/),
        feed: 'bookings',
        unread: 1,
      },
    ],
  })
  expect(await codesOf(actor)).toEqual(['feed_unread'])
  await actor.send('GET', feed)
  expect(await codesOf(actor)).toEqual([])
})

test('a page with a filter or with "Prefer: peek" is no read, an empty page and a 304 are', async () => {
  const actor = await service.actor()
  const { booking_id, listing_id } = await seedBooking(actor)
  await actor.send('GET', `${feed}?listing_id=${listing_id}`)
  await actor.send('GET', feed, { headers: { prefer: 'peek' } })
  await actor.send('GET', `${messages}?booking_id=${booking_id}`)
  const unread = await healthOf(actor)
  expect({ bookings: unread.feeds.bookings.read_at, messages: unread.feeds.messages.read_at }).toEqual({
    bookings: null,
    messages: null,
  })
  const { headers, body } = await actor.send('GET', feed)
  const { read_at, read_version } = (await healthOf(actor)).feeds.bookings
  expect(read_version).toBe(body.data.Bookings.at(-1).version)
  pass(minute)
  const known = { headers: { 'if-none-match': headers.get('etag') ?? '' } }
  expect((await actor.send('GET', feed, known)).status).toBe(304)
  const again = (await healthOf(actor)).feeds.bookings
  expect(again.read_at > read_at).toBe(true)
  pass(minute)
  const empty = await actor.send('GET', `${feed}?updated_after=${encodeURIComponent(read_version)}`)
  expect(empty.body.data.Bookings).toEqual([])
  const last = (await healthOf(actor)).feeds.bookings
  expect({ isLater: last.read_at > again.read_at, version: last.read_version }).toEqual({
    isLater: true,
    version: read_version,
  })
})

test('an empty feed that was read is read up to nothing, and the first change is then unread', async () => {
  const actor = await service.actor()
  await actor.send('GET', feed)
  expect((await healthOf(actor)).feeds.bookings).toMatchObject({
    newest_version: null,
    read_version: null,
    unread: 0,
  })
  await seedBooking(actor)
  const { bookings } = (await healthOf(actor)).feeds
  expect(bookings).toMatchObject({ read_version: null, unread: 1, oldest_unread_at: expect.any(String) })
})

test('a consumer that acknowledges nothing for 30 minutes is behind, and one that was just made or moved is not', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  pass(40 * minute)
  const path = `${feed}/consumers/sync`
  const put = (body: object) => actor.send('PUT', path, { body })
  await put({ acknowledged: null })
  await actor.send('GET', feed)
  expect(await codesOf(actor)).toEqual([])
  pass(31 * minute)
  const { findings } = await healthOf(actor)
  expect(findings).toMatchObject([
    { code: 'consumer_behind', feed: 'bookings', consumer: 'sync', pending: 1 },
  ])
  const page = await actor.send('GET', feed)
  await put({ acknowledged: page.body.data.Bookings.at(-1).version })
  expect(await codesOf(actor)).toEqual([])
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`, { body: {} })
  pass(31 * minute)
  expect(await codesOf(actor)).toEqual(['consumer_behind'])
  // Moving back is no progress.
  await put({ acknowledged: null, seek: true })
  expect(await codesOf(actor)).toEqual(['consumer_behind'])
})

test('without "bookings.read" the feeds are null, and without "listings.read" listings are not judged', async () => {
  const actor = await service.actor({ permissions: ['users.read'] })
  expect(await healthOf(actor)).toMatchObject({
    status: 'ok',
    findings: [],
    feeds: { bookings: null, messages: null },
  })
})

test('health counts the requests of the last hour, and says when most of them were refused', async () => {
  const actor = await service.actor()
  for (let count = 0; count < 20; count += 1) await actor.send('GET', '/v1/users/999999999')
  await actor.send('GET', '/v1/me')
  const { status, findings, requests } = await healthOf(actor)
  expect({ status, requests }).toEqual({
    status: 'warning',
    requests: { succeeded: 1, refused: 20, limited: 0, failed: 0, unanswered: 0 },
  })
  expect(findings).toMatchObject([{ code: 'requests_refused', since: null, refused: 20 }])
  pass(61 * minute)
  expect(await codesOf(actor)).toEqual([])
})

test('reading health counts as no read and no request, and is not listed', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const first = await healthOf(actor)
  const second = await healthOf(actor)
  expect(second.requests).toEqual(first.requests)
  expect(second.feeds.bookings.read_at).toBe(null)
  const listed = (await actor.send('GET', '/v1/requests')).body.data.map(({ path }: { path: string }) => path)
  expect(listed).not.toContain('/v1/health')
})

test('the sandbox has positions of its own, on its own clock, and clearing it forgets them', async () => {
  const actor = await service.actor()
  const sandboxFeed = feed.replace('/v1', '/sandbox')
  await limitAllNights(actor, '/sandbox')
  await actor.send('GET', sandboxFeed)
  expect((await healthOf(actor)).feeds.bookings.read_at).toBe(null)
  expect(await codesOf(actor, '/sandbox')).toEqual([])
  const [booking] = (await actor.send('GET', `${sandboxFeed}?updated_after=2020-01-01`)).body.data.Bookings
  await actor.send('POST', `/sandbox/bookings/${booking.booking_id}/messages/guest`, {
    body: { message: { text: 'Hello' } },
  })
  await actor.send('GET', `/sandbox/integrations/provider_one/messages`)
  await actor.send('POST', `/sandbox/bookings/${booking.booking_id}/messages/guest`, {
    body: { message: { text: 'Anybody there?' } },
  })
  await healthOf(actor, '/sandbox')
  await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: 31 * 60 } })
  expect(await codesOf(actor, '/sandbox')).toContain('feed_unread')
  expect(await codesOf(actor)).toEqual([])
  await actor.send('DELETE', '/sandbox')
  expect((await healthOf(actor, '/sandbox')).feeds.bookings.read_at).toBe(null)
})

test('a published listing with a room type without any price is named, and a price of 0 is a price', async () => {
  const actor = await service.actor()
  const room_types = [{ name: 'Single' }, { name: 'Double', prices: { price_jul: 900 } }]
  const created = await actor.send('POST', '/v1/listings', { body: { name: 'House', room_types } })
  const { id } = created.body.data
  const listing = await actor.send('GET', `/v1/listings/${id}`)
  await limitAllNights(actor, '/v1')
  expect(await codesOf(actor)).toEqual([])
  await setListingStatus(service.live, { id, owner_id: actor.hostId }, 'published')
  expect((await healthOf(actor)).findings).toMatchObject([
    { code: 'listing_without_price', severity: 'warning', since: null, listing_ids: [id], count: 1 },
  ])
  const [single] = listing.body.data.room_types
  const rates = { data: [{ listing_id: id, room_type_id: single.id, base_price: 0 }] }
  await actor.send('POST', '/v1/integrations/provider_one/rates', { body: rates })
  expect(await codesOf(actor)).toEqual([])
})

const versionIn = (milliseconds: number) =>
  encodeURIComponent(new Date(clock().getTime() + milliseconds).toISOString().slice(0, 19).replace('T', ' '))

test.for(['/v1', '/sandbox'] as const)(
  '%s: a key whose last read was ahead of the feed fails, whatever it read before and beside a consumer',
  async (root) => {
    const actor = await service.actor()
    await seedBooking(actor, root)
    await limitAllNights(actor, root)
    const path = (feed: 'bookings' | 'messages') => `${root}/integrations/provider_one/${feed}`
    const ahead = (feed: 'bookings' | 'messages', query = '') =>
      actor.send('GET', `${path(feed)}?updated_after=${versionIn(60 * minute)}${query}`)
    await actor.send('PUT', `${path('bookings')}/consumers/sync`, { body: { acknowledged: null } })
    await actor.send('GET', path('bookings'))
    const before = (await healthOf(actor, root)).feeds.bookings
    await actor.send('GET', `${path('bookings')}?updated_after=${versionIn(60 * minute)}`, {
      headers: { prefer: 'peek' },
    })
    await ahead('bookings', '&checkout_after=2020-01-01')
    expect(await codesOf(actor, root)).toEqual([])
    pass(1000)
    await ahead('bookings')
    const first = await healthOf(actor, root)
    const [finding] = first.findings
    expect({ status: first.status, findings: first.findings }).toEqual({
      status: 'failing',
      findings: [
        {
          code: 'position_ahead',
          severity: 'failing',
          since: first.feeds.bookings.read_at,
          message: expect.stringContaining(before.newest_version),
          guide: expect.stringMatching(/#position_ahead$/),
          feed: 'bookings',
        },
      ],
    })
    expect(first.feeds.bookings.read_version).toBe(before.read_version)
    pass(minute)
    await ahead('bookings')
    await ahead('messages')
    const again = (await healthOf(actor, root)).findings
    expect(again.map(({ feed, since }: { feed: string; since: string }) => ({ feed, since }))).toEqual([
      { feed: 'bookings', since: finding.since },
      { feed: 'messages', since: expect.any(String) },
    ])
    pass(minute)
    await actor.send('GET', path('bookings'))
    await actor.send('GET', path('messages'))
    expect(await codesOf(actor, root)).toEqual([])
  },
)

test('a key that has only read ahead of the feed has not read the feed before', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  await actor.send('GET', `${feed}?updated_after=${versionIn(60 * minute)}`)
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`, { body: {} })
  pass(31 * minute)
  const { findings, feeds } = await healthOf(actor)
  expect(findings.map(({ code }: { code: string }) => code)).toEqual(['position_ahead'])
  expect(feeds.bookings).toMatchObject({ read_version: null, read_at: expect.any(String), unread: 1 })
})

test('what this process has noted but not written yet is in health', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const page = await actor.send('GET', feed)
  const { body } = await actor.send('GET', '/v1/health')
  expect(body.data.feeds.bookings).toMatchObject({
    read_version: page.body.data.Bookings.at(-1).version,
    read_at: expect.any(String),
    unread: 0,
  })
  await seedBooking(actor, '/sandbox')
  await actor.send('GET', feed.replace('/v1', '/sandbox'))
  const sandbox = await actor.send('GET', '/sandbox/health')
  expect(sandbox.body.data.feeds.bookings).toMatchObject({ read_at: expect.any(String), unread: 0 })
})

test.for(['/v1', '/sandbox'] as const)(
  '%s: an operation that was refused three times since its last success is reported until it succeeds',
  async (root) => {
    const actor = await service.actor()
    const { listing_id, room_type_id } = await seedBooking(actor, root)
    await limitAllNights(actor, '/sandbox')
    await limitAllNights(actor, '/v1')
    const path = `${root}/integrations/provider_one/availability`
    const nights = { start_date: '2031-01-01', end_date: '2031-02-01', available: 1 }
    const push = (room: number) =>
      actor.send('POST', path, { body: { data: [{ listing_id, room_type_id: room, ...nights }] } })
    expect((await push(room_type_id)).status).toBe(200)
    const statuses = []
    for (let refusal = 1; refusal <= 2; refusal += 1) statuses.push((await push(999_999_999)).status)
    // The same operation in the other environment, and refusals of reads, do not count.
    await actor.send('GET', `${root}/listings/999999999`)
    expect({ statuses, codes: await codesOf(actor, root) }).toEqual({ statuses: [400, 400], codes: [] })
    pass(1000)
    const third = clock()
    await push(999_999_999)
    pass(minute)
    await push(999_999_999)
    const { status, findings } = await healthOf(actor, root)
    expect({ status, findings }).toEqual({
      status: 'warning',
      findings: [
        {
          code: 'writes_refused',
          severity: 'warning',
          since: expect.any(String),
          message: expect.stringContaining('"updateAvailability"'),
          guide: expect.stringMatching(/#writes_refused$/),
          operation_id: 'updateAvailability',
          refused: 4,
        },
      ],
    })
    const since = new Date(findings[0].since).getTime() - third.getTime()
    expect({ since, isTheThird: since >= 0 && since < minute }).toEqual({ since, isTheThird: true })
    expect(await codesOf(actor, root === '/v1' ? '/sandbox' : '/v1')).toEqual([])
    // The sandbox would end if the service's own clock moved that far.
    const week = 7 * 24 * 60 * minute
    if (root === '/v1') pass(week)
    else await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: week / 1000 } })
    expect(await codesOf(actor, root)).toEqual([])
    for (let refusal = 1; refusal <= 3; refusal += 1) await push(999_999_999)
    expect(await codesOf(actor, root)).toEqual(['writes_refused'])
    await push(room_type_id)
    expect(await codesOf(actor, root)).toEqual([])
  },
)

test('conflicts say nothing about what was sent, a replay is a success, and a forbidden write counts', async () => {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const book = (body: object, key?: string) =>
    actor.send('POST', '/v1/bookings', { body, headers: key === undefined ? {} : { 'idempotency-key': key } })
  expect((await book(stay, 'one')).status).toBe(201)
  const refused = []
  for (let refusal = 1; refusal <= 3; refusal += 1) refused.push((await book({})).status)
  const conflicts = []
  for (let conflict = 1; conflict <= 3; conflict += 1)
    conflicts.push((await book({ ...stay, checkin_at: '2031-01-02' }, 'one')).status)
  expect({ refused, conflicts }).toEqual({ refused: [422, 422, 422], conflicts: [409, 409, 409] })
  const { findings } = await healthOf(actor)
  expect(findings).toMatchObject([{ code: 'writes_refused', operation_id: 'createBooking', refused: 3 }])
  expect((await book(stay, 'one')).headers.get('idempotent-replayed')).toBe('true')
  expect(await codesOf(actor)).toEqual([])
  const reader = await service.actor({ permissions: ['bookings.read'] })
  for (let refusal = 1; refusal <= 3; refusal += 1) await reader.send('POST', '/v1/users', { body: {} })
  expect((await healthOf(reader)).findings).toMatchObject([{ operation_id: 'createUser', refused: 3 }])
})

test('refusals in two processes are counted together, and a success in either ends them', async () => {
  const other = await testApp({ MONGODB_URL: url }, clock)
  const actor = await service.actor()
  const create = (from: typeof service, body: object) =>
    from.send('POST', '/v1/listings', { key: actor.key, body })
  const written = async (from: typeof service) => {
    await from.logged()
    await from.live.activity.flush()
  }
  await create(service, {})
  await create(other, {})
  await create(other, {})
  await written(other)
  expect(await codesOf(actor)).toEqual(['writes_refused'])
  await create(service, {})
  await service.logged()
  await create(other, { name: 'House' })
  await written(other)
  // The success is stored before the refusal that came before it.
  expect(await codesOf(actor)).toEqual([])
})

type Root = '/v1' | '/sandbox'
const roots = ['/v1', '/sandbox'] as const
const day = (days: number) => dayFromNow(days, clock())

/** A partner whose listings so far are all well, with a server of calendars. */
async function hostWithCalendars(root: Root) {
  const actor = await service.actor()
  if (root === '/sandbox') await limitAllNights(actor, root)
  const server = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
  return { actor, server }
}

/**
 * Lets time pass and reads a room's calendar. Returns its entry. If the service reads the calendar meanwhile, perhaps as
 * its server was before, another minute passes.
 */
async function readCalendar(actor: Actor, root: Root, roomId: number | undefined) {
  const path = `${root}/integrations/provider_one/calendars/${roomId}/read`
  await passIn(actor, root, 61_000)
  for (;;) {
    const { status, body } = await actor.send('POST', path)
    if (status === 200) return body.data.calendar
    expect(status).toBe(409)
    const wasJustRead = /less than 60 s ago/.test(body.error.message)
    if (wasJustRead) await passIn(actor, root, 61_000)
    else await Bun.sleep(20)
  }
}

async function passIn(actor: Actor, root: Root, milliseconds: number): Promise<void> {
  if (root === '/v1') pass(milliseconds)
  else await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: milliseconds / 1000 } })
}

const ownerOf = async (actor: Actor, root: Root, listingId: number): Promise<number> => {
  const { db } = root === '/v1' ? service.live : service.sandbox
  // Listings of all sandboxes have ids of their own, except those that every sandbox has from the beginning.
  const found = await db.collection('listings').find({ id: listingId }).toArray()
  expect(found.length).toBe(1)
  return root === '/v1' ? actor.hostId : found[0]?.owner_id
}

test.for(roots)(
  '%s: a calendar that fails for 6 hours and its interval is failing until it is read',
  async (root) => {
    const { actor, server } = await hostWithCalendars(root)
    const { roomIds } = await listingWithCalendars(actor, [`${server.url}/never`, `${server.url}/once`], root)
    const [never, once] = roomIds
    server.serve('/once', calendarOf([[day(3), day(5)]]))
    const read = await readCalendar(actor, root, once)
    expect((await readCalendar(actor, root, never)).status).toBe('failing')
    server.serve('/once', () => new Response('Down', { status: 503 }))
    expect((await readCalendar(actor, root, once)).status).toBe('failing')
    await passIn(actor, root, 6 * 60 * minute + 10 * minute)
    expect(await codesOf(actor, root)).toEqual([])
    await passIn(actor, root, 6 * minute)
    const { status, findings } = await healthOf(actor, root)
    expect({ status, findings }).toEqual({
      status: 'failing',
      findings: [
        {
          code: 'calendar_failing',
          severity: 'failing',
          since: expect.any(String),
          message: expect.stringContaining('calendars of 2 rooms'),
          guide: expect.stringMatching(/#calendar_failing$/),
          room_ids: [never, once],
          count: 2,
        },
      ],
    })
    const time = Date.parse(read.read_at) + (6 * 60 + 15) * minute
    expect(Date.parse(findings[0].since)).toBeLessThanOrEqual(time)
    server.serve('/never', calendarOf([]))
    expect((await readCalendar(actor, root, never)).status).toBe('ok')
    const left = (await healthOf(actor, root)).findings
    expect(left).toMatchObject([{ code: 'calendar_failing', room_ids: [once], count: 1 }])
    expect(Date.parse(left[0].since)).toBe(time)
    server.serve('/once', calendarOf([[day(3), day(5)]]))
    await readCalendar(actor, root, once)
    expect(await codesOf(actor, root)).toEqual([])
  },
)

test.for(roots)(
  '%s: a conflict is reported until its nights have passed, and skipped events until a file has none',
  async (root) => {
    const { actor, server } = await hostWithCalendars(root)
    const made = await listingWithCalendars(actor, [`${server.url}/room`, `${server.url}/other`], root)
    const { user_id, listing_id, room_type_id, roomIds } = made
    const stay = { user_id, listing_id, room_type_id, checkin_at: day(2), checkout_at: day(40) }
    expect((await actor.send('POST', `${root}/bookings`, { body: stay })).status).toBe(201)
    const unreadable = ['BEGIN:VEVENT', 'UID:x', 'SUMMARY:Reserved', 'END:VEVENT', 'END:VCALENDAR'].join(
      '\r\n',
    )
    const nights = [day(3), day(4)]
    const blocked = calendarOf([[day(3), day(5)]])
    server.serve('/room', blocked)
    server.serve('/other', blocked.replace('END:VCALENDAR', unreadable))
    for (const roomId of roomIds) await readCalendar(actor, root, roomId)
    const { status, findings } = await healthOf(actor, root)
    expect({ status, findings }).toMatchObject({
      status: 'failing',
      findings: [
        {
          code: 'calendar_conflict',
          severity: 'failing',
          since: null,
          room_ids: expect.arrayContaining([roomIds[1]]),
        },
        { code: 'calendar_incomplete', severity: 'warning', since: null, room_ids: [roomIds[1]], count: 1 },
      ],
    })
    server.serve('/other', blocked)
    await readCalendar(actor, root, roomIds[1])
    expect(await codesOf(actor, root)).toEqual(['calendar_conflict'])
    const entry = (await actor.send('GET', `${root}/integrations/provider_one/calendars/${roomIds[1]}`)).body
      .data.calendar
    expect(entry.conflicts).toEqual(nights)
    // Nobody reads the calendar any more, and the time of its last conflict passes.
    server.serve('/other', () => new Response('Down', { status: 503 }))
    await passIn(actor, root, 3 * 24 * 60 * minute)
    expect(await codesOf(actor, root)).toContain('calendar_conflict')
    await passIn(actor, root, 3 * 24 * 60 * minute)
    expect(await codesOf(actor, root)).not.toContain('calendar_conflict')
  },
)

test.for(roots)(
  '%s: nights of a published listing are open until a row ends today or later or a calendar was read',
  async (root) => {
    const { actor, server } = await hostWithCalendars(root)
    const made = await listingWithCalendars(actor, [`${server.url}/late`], root)
    const { listing_id, room_type_id, roomIds } = made
    // A listing that is not published sells nothing.
    expect(await codesOf(actor, root)).toEqual([])
    const context = root === '/v1' ? service.live : service.sandbox
    const owner_id = await ownerOf(actor, root, listing_id)
    await setListingStatus(context, { id: listing_id, owner_id }, 'published')
    const isOpen = async () => (await codesOf(actor, root)).includes('nights_open')
    expect((await healthOf(actor, root)).findings).toMatchObject([
      { code: 'nights_open', severity: 'warning', since: null, listing_ids: [listing_id], count: 1 },
    ])
    const push = async (start_date: string, end_date: string) => {
      const item = { listing_id, room_type_id, available: 1, start_date, end_date }
      const path = `${root}/integrations/provider_one/availability`
      expect((await actor.send('POST', path, { body: { data: [item] } })).status).toBe(200)
    }
    await push('2020-01-01', day(-1))
    expect(await isOpen()).toBe(true)
    await push('2020-01-01', day(0))
    expect(await isOpen()).toBe(false)
    // A later write for other nights leaves the row that ends today.
    await push('2020-01-01', '2020-02-01')
    expect(await isOpen()).toBe(false)
    await passIn(actor, root, 24 * 60 * minute)
    expect(await isOpen()).toBe(true)
    server.serve('/late', calendarOf([[day(3), day(5)]]))
    await readCalendar(actor, root, roomIds[0])
    expect(await codesOf(actor, root)).toEqual([])
    expect(await codesOf(await service.actor({ permissions: ['bookings.read'] }), root)).toEqual([])
  },
)
