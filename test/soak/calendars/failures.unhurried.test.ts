import { createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'

/*
 * Every way in which a file may fail, over real connections and through the whole service: what the entry shows, and that
 * the blocks stay. A calendar is read well first; then its server answers in one of the ways.
 */

/** The service's clock is ahead by as many seconds. */
let ahead = 0
const clock = () => new Date(Date.now() + ahead * 1000)
const service = await testApp({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' }, clock)
const actor = await service.actor()
const base = '/v1/integrations/provider_one/calendars'
const mebibyte = 1024 * 1024

const stay: [string, string] = [dayFromNow(40), dayFromNow(44)]
const good = calendarOf([stay])
const nights = 4

type Answer = (socket: Socket, head: string) => void

/** Returns a response with its length. */
function response(status: string, body: string | Uint8Array = '', headers: string[] = []): Buffer {
  const bytes = Buffer.from(body)
  const head = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${bytes.length}`, 'Connection: close']
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes])
}

const reply =
  (...parts: Parameters<typeof response>): Answer =>
  (socket) =>
    void socket.end(response(...parts))

/** Sends the start of a response, and then a byte a second. */
const drip =
  (start: string): Answer =>
  (socket) => {
    socket.write(start)
    const timer = setInterval(() => socket.write('x'), 1000)
    socket.on('close', () => clearInterval(timer))
  }

/** Redirects as often as the path says: `/3` to `/2` and so on. */
const redirects =
  (count: number): Answer =>
  (socket, head) => {
    const [, left = String(count)] = head.match(/^GET \/(\d+) /) ?? []
    if (left === '0') socket.end(response('200 OK', good))
    else socket.end(response('302 Found', '', [`Location: /${Number(left) - 1}`]))
  }

/** Starts a server whose answer can be changed. It sends the good file at first. */
async function startServer() {
  const sockets = new Set<Socket>()
  const state: { answer: Answer; url: string } = { answer: reply('200 OK', good), url: '' }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let head = ''
    socket.on('data', (data) => {
      head += data
      // As servers without TLS do, it answers a handshake in plain text.
      if (!head.startsWith('GET ')) socket.end(response('400 Bad Request'))
      if (!head.includes('\r\n\r\n')) return
      state.answer(socket, head)
      head = ''
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as { port: number }
  state.url = `http://127.0.0.1:${port}`
  return state
}

const manyEvents = calendarOf(Array.from({ length: 10_001 }, () => stay))

interface Way {
  name: string
  answer?: Answer
  /** Set in place of the server's address, from which the file was read before. */
  address?: (url: string) => string
  error: string | null
  status: number | null
  /** Least and greatest time until the next reading, in seconds. */
  next?: [least: number, most: number]
}

const quarterHour: [number, number] = [13.5 * 60, 16.5 * 60]
/** The service itself may have read a new address before, so that this is the second failure. */
const upToTwoFailures: [number, number] = [13.5 * 60, 33 * 60]

const ways: Way[] = [
  { name: 'a response that never begins', answer: () => {}, error: 'timeout', status: null },
  { name: 'a head that drips', answer: drip('HTTP/1.1 200 OK\r\nX-A: '), error: 'timeout', status: null },
  { name: 'a body that drips', answer: drip('HTTP/1.1 200 OK\r\n\r\n'), error: 'timeout', status: 200 },
  {
    name: 'a connection that is closed at once',
    answer: (socket) => socket.destroy(),
    error: 'refused',
    status: null,
  },
  {
    name: 'what is not HTTP',
    answer: (socket) => void socket.end('220 mail.example.com ready\r\n'),
    error: 'refused',
    status: null,
  },
  {
    name: 'a body that is cut, at an event',
    answer: (socket) =>
      void socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${good.length + 99}\r\n\r\n${good}`),
    error: 'refused',
    status: 200,
  },
  {
    name: 'half a file in gzip',
    answer: reply('200 OK', gzipSync(good).subarray(0, -6), ['Content-Encoding: gzip']),
    error: 'not_a_calendar',
    status: 200,
  },
  {
    name: 'gzip that is none',
    answer: reply('200 OK', good, ['Content-Encoding: gzip']),
    error: 'not_a_calendar',
    status: 200,
  },
  {
    name: '9 MiB in gzip',
    answer: reply('200 OK', gzipSync(good + '\r\n'.repeat(4.5 * mebibyte)), ['Content-Encoding: gzip']),
    error: 'too_large',
    status: 200,
  },
  {
    name: 'more than 2 MiB without a length',
    answer: (socket) => void socket.end(`HTTP/1.1 200 OK\r\n\r\n${good}${' \r\n'.repeat(mebibyte)}`),
    error: 'too_large',
    status: 200,
  },
  { name: '10,001 events', answer: reply('200 OK', manyEvents), error: 'too_large', status: 200 },
  {
    name: 'part of the file',
    answer: reply('206 Partial Content', good),
    error: 'not_a_calendar',
    status: 206,
  },
  {
    name: 'a second calendar without its end',
    answer: reply('200 OK', `${good}BEGIN:VCALENDAR\r\n`),
    error: 'not_a_calendar',
    status: 200,
  },
  { name: 'JSON', answer: reply('200 OK', '{"events":[]}'), error: 'not_a_calendar', status: 200 },
  {
    name: 'UTF-16',
    answer: reply('200 OK', Buffer.from(`\ufeff${good}`, 'utf16le')),
    error: 'not_a_calendar',
    status: 200,
  },
  { name: 'four redirects', answer: redirects(4), error: 'redirect', status: 302 },
  {
    name: 'a redirect to https',
    answer: reply('301 Moved', '', ['Location: https://calendars.example.com/a.ics']),
    error: 'redirect',
    status: 301,
  },
  {
    name: 'a redirect to a port that nobody listens at',
    answer: reply('302 Found', '', ['Location: http://127.0.0.1:9/a.ics']),
    error: 'refused',
    status: 302,
  },
  {
    name: 'a redirect with a user name',
    answer: reply('302 Found', '', ['Location: http://me:secret@127.0.0.1:9/a.ics']),
    error: 'address',
    status: 302,
  },
  ...[401, 404, 410].map((status) => ({
    name: `${status} with the file`,
    answer: reply(`${status} No`, good),
    error: 'status',
    status,
    next: quarterHour,
  })),
  {
    name: '429 with Retry-After: 3600',
    answer: reply('429 Slow down', '', ['Retry-After: 3600']),
    error: 'status',
    status: 429,
    next: [3590, 3600],
  },
  {
    name: '503 with Retry-After of a day',
    answer: reply('503 Later', '', ['Retry-After: 86400']),
    error: 'status',
    status: 503,
    next: [6 * 3600 - 10, 6 * 3600],
  },
  {
    name: '503 with Retry-After: 1',
    answer: reply('503 Later', '', ['Retry-After: 1']),
    error: 'status',
    status: 503,
    next: quarterHour,
  },
  {
    name: 'a new address without a server',
    address: () => 'http://127.0.0.1:9/a.ics',
    error: 'refused',
    status: null,
    next: upToTwoFailures,
  },
  {
    name: 'a new address without TLS',
    address: (url) => url.replace('http:', 'https:'),
    error: 'tls',
    status: null,
    next: upToTwoFailures,
  },
  {
    name: 'a new address whose name does not exist',
    address: () => 'https://calendar.invalid/a.ics',
    error: 'dns',
    status: null,
    next: upToTwoFailures,
  },
  { name: 'three redirects, which are not a failure', answer: redirects(3), error: null, status: 200 },
]

interface Tried {
  roomId: number
  listing_id: number
  room_type_id: number
  server: Awaited<ReturnType<typeof startServer>>
}

async function entryOf({ roomId }: Tried) {
  return (await actor.send('GET', `${base}/${roomId}`)).body.data.calendar
}

async function readNow(tried: Tried) {
  for (;;) {
    const { status, body } = await actor.send('POST', `${base}/${tried.roomId}/read`, {
      body: { accept: true },
    })
    if (status === 200) return body.data.calendar
    expect(status).toBe(409)
    await Bun.sleep(200)
  }
}

async function begin(): Promise<Tried> {
  const server = await startServer()
  const { roomIds, ...ids } = await listingWithCalendars(actor, [`${server.url}/file`])
  return { ...ids, server, roomId: roomIds[0] as number }
}

async function firstRead(tried: Tried): Promise<void> {
  await expect.poll(() => entryOf(tried), { timeout: 60_000 }).toMatchObject({ status: 'ok', nights })
}

async function setAddress({ roomId, room_type_id, listing_id }: Tried, ical: string) {
  const rooms = [{ id: roomId, availability: { ical } }]
  const body = { room_types: [{ id: room_type_id, rooms }] }
  const { status } = await actor.send('PATCH', `/v1/listings/${listing_id}`, { body })
  expect(status).toBe(200)
}

/** Fails a calendar in one way. Returns its entry, and the entry after the server is well again. */
async function fail(tried: Tried, { answer, address }: Way) {
  if (answer) tried.server.answer = answer
  if (address) await setAddress(tried, address(tried.server.url))
  const failed = await readNow(tried)
  tried.server.answer = reply('200 OK', good)
  if (address) await setAddress(tried, `${tried.server.url}/file`)
  return { failed, mended: await readNow(tried) }
}

test('whatever comes back, the blocks stay, the entry says why, and the next good file counts again', async () => {
  const tried: Tried[] = []
  // One after another, because a host's writes wait for each other, and for six seconds at most.
  for (const _ of ways) tried.push(await begin())
  await Promise.all(tried.map(firstRead))
  const before = await Promise.all(tried.map((one) => entryOf(one)))
  ahead += 61
  const outcomes = await Promise.all(ways.map((way, index) => fail(tried[index] as Tried, way)))
  console.log('way → status, error, response_status, blocks stayed')
  for (const [index, way] of ways.entries()) {
    const { failed, mended } = outcomes[index] as (typeof outcomes)[number]
    const hasStayed = JSON.stringify(failed.blocks) === JSON.stringify(before[index].blocks)
    console.log(`${way.name} → ${failed.status}, ${failed.error}, ${failed.response_status}, ${hasStayed}`)
    const seen = {
      name: way.name,
      status: failed.status,
      error: failed.error,
      response_status: failed.response_status,
      nights: failed.nights,
      blocks: failed.blocks,
    }
    expect(seen).toEqual({
      name: way.name,
      status: way.error === null ? 'ok' : 'failing',
      error: way.error,
      response_status: way.status,
      nights,
      blocks: before[index].blocks,
    })
    const wait = (Date.parse(failed.next_read_at) - Date.parse(failed.attempted_at)) / 1000
    const [least, most] = way.next ?? quarterHour
    expect({ name: way.name, wait, isInTime: least <= wait && wait <= most }).toMatchObject({
      isInTime: true,
    })
    expect({ name: way.name, ...mended }).toMatchObject({ name: way.name, status: 'ok', error: null, nights })
  }
}, 240_000)

test('a server that answers 304 for ever is asked for the whole file once a day', async () => {
  const tried = await begin()
  await firstRead(tried)
  const asked: boolean[] = []
  const other = calendarOf([stay, [dayFromNow(60), dayFromNow(61)]])
  tried.server.answer = (socket, head) => {
    const isConditional = /^if-none-match:/im.test(head)
    asked.push(isConditional)
    const headers = ['ETag: "always"']
    socket.end(isConditional ? response('304 Not Modified', '', headers) : response('200 OK', other, headers))
  }
  // The first file had no tag, so this reading asks for all of it.
  expect(await readNow(tried)).toMatchObject({ status: 'ok', response_status: 200, nights: 5 })
  ahead += 61
  expect(await readNow(tried)).toMatchObject({ status: 'ok', response_status: 304, nights: 5 })
  ahead += 23 * 3600
  expect(await readNow(tried)).toMatchObject({ response_status: 304 })
  ahead += 3600
  expect(await readNow(tried)).toMatchObject({ response_status: 200, nights: 5 })
  expect(asked.filter((isConditional) => !isConditional)).toHaveLength(2)
  // One that does so even when it is asked for the whole file fails, and its blocks stay.
  tried.server.answer = reply('304 Not Modified')
  ahead += 24 * 3600
  expect(await readNow(tried)).toMatchObject({
    status: 'failing',
    error: 'status',
    response_status: 304,
    nights: 5,
  })
}, 60_000)
