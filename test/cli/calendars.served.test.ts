import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { partnerctlHere } from '../support/admin.ts'
import type { Actor } from '../support/app.ts'
import {
  type CalendarServer,
  calendarOf,
  dayFromNow,
  listingWithCalendars,
  startCalendarServer,
} from '../support/calendars.ts'
import { ownDatabase } from '../support/databases.ts'
import { awaitDay } from '../support/midnight.ts'
import { partnerctl } from '../support/processes.ts'
import { serve } from '../support/served.ts'

await awaitDay()
// Processes that do not allow private addresses must not read this file's calendars.
const service = await serve({ MONGODB_URL: await ownDatabase() })
const actor = await service.actor()
const folder = await mkdtemp(join(tmpdir(), 'partner-calendars-'))
afterAll(() => rm(folder, { recursive: true }))

/** Starts a server of the test's own, because readings at one server take turns. */
function newServer(): CalendarServer {
  return startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
}

const calendars = (args: string[], stdin?: string, { key }: Pick<Actor, 'key'> = actor) =>
  partnerctl(['calendars', ...args], { PARTNER_BASE_URL: service.url, PARTNER_API_KEY: key }, stdin)

const json = async (...args: string[]) => JSON.parse((await calendars([...args, '--json'])).stdout)

/** Creates a listing whose rooms have these calendars, and waits until each was tried. */
async function readRooms(of: Actor, urls: string[]) {
  const made = await listingWithCalendars(of, urls)
  const path = `/v1/integrations/provider_one/calendars?listing_id=${made.listing_id}`
  const waiting = async () => (await of.send('GET', `${path}&status=waiting`)).body.data.calendars.length
  await expect.poll(waiting).toBe(0)
  return made
}

async function fileWith(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, content)
  return file
}

const day = (days: number) => dayFromNow(days)

test('calendars list shows status, nights and origin in a table, and the address only in JSON', async () => {
  const server = newServer()
  server.serve('/secret-token.ics', calendarOf([[day(3), day(5)]]))
  const urls = [`${server.url}/secret-token.ics`, `${server.url}/not-there`]
  const { listing_id, roomIds } = await readRooms(actor, urls)
  const own = ['list', '--listing', String(listing_id)]
  const shown = await calendars(own)
  const [head, good, bad, ...rest] = shown.stdout.trimEnd().split('\n')
  expect({ code: shown.code, stderr: shown.stderr, rest }).toEqual({ code: 0, stderr: '', rest: [] })
  expect(head).toMatch(
    /^LISTING +ROOM +ADDRESS +STATUS +ERROR +NIGHTS +CONFLICTS +READ +NEXT READING +HELD UNTIL$/,
  )
  expect(good).toMatch(
    new RegExp(`^${listing_id} +${roomIds[0]} +${server.url} +ok +- +2 +0 +20\\S+Z +20\\S+Z +-$`),
  )
  expect(bad).toMatch(
    new RegExp(`^${listing_id} +${roomIds[1]} +${server.url} +failing +status 404 +0 +0 +- +20\\S+Z +-$`),
  )
  expect(shown.stdout).not.toContain('secret-token')
  const all = await json(...own)
  expect(all).toMatchObject([
    { room_id: roomIds[0], url: urls[0], status: 'ok' },
    { room_id: roomIds[1], url: urls[1], status: 'failing', response_status: 404 },
  ])
  const failing = await json(...own, '--status', 'failing, waiting')
  expect(failing).toEqual([all[1]])
  const cut = await calendars([...own, '--limit', '1'])
  expect(cut.stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^LISTING/),
    expect.stringMatching(new RegExp(`^${listing_id} +${roomIds[0]} `)),
  ])
  expect(cut.stderr).toBe('There are more than 1; raise --limit, or use --listing or --status\n')
})

test('calendars show shows what a calendar blocks and what was skipped, without its address', async () => {
  const server = newServer()
  const broken = 'BEGIN:VEVENT\r\nSUMMARY:Nobody may see this\r\nEND:VEVENT\r\n'
  const file = calendarOf([[day(3), day(5)]]).replace('END:VCALENDAR', `${broken}END:VCALENDAR`)
  server.serve('/secret-token.ics', file)
  const { roomIds } = await readRooms(actor, [`${server.url}/secret-token.ics`])
  const [room = ''] = roomIds.map(String)
  const { code, stdout, stderr } = await calendars(['show', room])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const line of [
    new RegExp(`^room_id +${room}$`, 'm'),
    new RegExp(`^address +${server.url}$`, 'm'),
    /^status +ok$/m,
    /^events +2 read, 1 blocking, 1 skipped$/m,
    /^nights +2$/m,
    /^conflicts +-$/m,
    new RegExp(`^FIRST NIGHT +END +SEEN +BOOKING\n${day(3)} +${day(5)} +20\\S+Z +-$`, 'm'),
    /^SKIPPED AT LINE +REASON\n9 +no_dates$/m,
  ])
    expect(stdout).toMatch(line)
  expect(stdout).not.toMatch(/secret-token|Nobody/)
  expect(await json('show', room)).toMatchObject({
    url: `${server.url}/secret-token.ics`,
    blocks: [{ start_date: day(3), end_date: day(5), booking_id: null }],
    skipped: [{ line: 9, reason: 'no_dates' }],
  })
})

test('calendars list --host shows an administrator the calendars of a host, and of each address only the origin', async () => {
  const server = newServer()
  server.serve('/secret-token.ics', calendarOf([[day(3), day(5)]]))
  const owner = await service.actor()
  const { listing_id, roomIds } = await readRooms(owner, [
    `${server.url}/secret-token.ics`,
    `${server.url}/not-there?key=secret-token`,
  ])
  const run = (...args: string[]) => partnerctlHere(['calendars', 'list', ...args], service.settings)
  const shown = await run('--host', String(owner.hostId))
  expect({ code: shown.code, stderr: shown.stderr }).toEqual({ code: 0, stderr: '' })
  expect(shown.stdout).toMatch(
    new RegExp(`^${owner.hostId} +${listing_id} +${roomIds[0]} +${server.url} +ok +- +2 `, 'm'),
  )
  const me = await owner.send('GET', '/v1/me')
  const asJson = await run('--host', me.body.data.email, '--status', 'failing', '--json')
  expect(JSON.parse(asJson.stdout)).toEqual([
    expect.objectContaining({
      host_id: owner.hostId,
      room_id: roomIds[1],
      origin: server.url,
      status: 'failing',
      response_status: 404,
    }),
  ])
  expect(shown.stdout + asJson.stdout).not.toContain('secret-token')
  expect(await run('--host', 'nobody@example.com')).toMatchObject({ code: 1, stdout: '' })
  expect(await run('--host', String(owner.hostId), '--sandbox')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Option --sandbox cannot be used with --host'),
  })
})

test('calendars read reads now, says when it holds nights, and takes the file as it is with --accept', async () => {
  const server = newServer()
  const owner = await service.actor()
  server.serve('/room', calendarOf([[day(3), day(23)]]))
  const { roomIds } = await listingWithCalendars(owner, [`${server.url}/room`], '/sandbox')
  const [room = ''] = roomIds.map(String)
  const read = (...args: string[]) => calendars(['read', room, '--sandbox', ...args], undefined, owner)
  const later = () => owner.send('POST', '/sandbox/clock', { body: { advance_seconds: 61 } })
  const first = await read()
  expect(first).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^nights +20$/m) })
  const early = await read()
  expect(early).toMatchObject({ code: 1, stdout: '' })
  expect(early.stderr).toMatch(/^The calendar was read less than 60 s ago; try again in \d+ s \(409\)\n/)
  await later()
  server.serve('/room', calendarOf([]))
  const held = await read()
  expect(held).toMatchObject({ code: 0, stdout: expect.stringMatching(/^status +holding$/m) })
  expect(held.stderr).toMatch(
    new RegExp(
      `^The file lacks so many nights that none is freed before 20\\S+Z; if the file is right, run: partnerctl calendars read ${room} --sandbox --accept\n$`,
    ),
  )
  const accepted = await read('--accept', '--json')
  expect({ code: accepted.code, stderr: accepted.stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(accepted.stdout)).toMatchObject({ status: 'ok', nights: 0, blocks: [] })
  await later()
  server.serve('/room', '<html></html>')
  const failed = await read()
  expect(failed).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^status +failing$/m),
    stderr: 'The calendar could not be read: not_a_calendar\n',
  })
})

test('calendars check says what a file or standard input would block, also for files as senders write them', async () => {
  const text = calendarOf([[day(3), day(5)]])
  const expected = {
    blocks: [{ start_date: day(3), end_date: day(5) }],
    skipped: [],
    events: { read: 1, blocking: 1, skipped: 0 },
  }
  expect(await json('check', await fileWith('plain.ics', text))).toEqual(expected)
  const fromInput = await calendars(['check', '-'], text)
  expect(fromInput).toMatchObject({ code: 0, stderr: '' })
  expect(fromInput.stdout).toBe(
    ['FIRST NIGHT  END', `${day(3)}   ${day(5)}`, '', 'Events: 1 read, 1 blocking, 0 skipped', ''].join('\n'),
  )
  // A line that is folded within a character is not UTF-8, and neither is Latin-1.
  const folded = Buffer.from(text.replace('Reserved', 'Caf\u00c3\r\n \u00a9'), 'latin1')
  const marked = Buffer.from(`\ufeff${text}`)
  const latin1 = Buffer.from(text.replace('Reserved', 'Caf\u00e9'), 'latin1')
  for (const [name, bytes] of Object.entries({ folded, marked, latin1 }))
    expect({ name, found: await json('check', await fileWith(`${name}.ics`, bytes)) }).toEqual({
      name,
      found: expected,
    })
  const empty = await calendars(['check', '-'], calendarOf([]))
  expect(empty).toMatchObject({ code: 0, stdout: expect.stringContaining('The file would block nothing') })
})

test('calendars check counts times in UTC in the zone of the room that --room names', async () => {
  const body = {
    original_id: crypto.randomUUID(),
    name: 'House',
    location: { country: 'JP' },
    room_types: [{ id: 'type', name: 'Room', rooms: [{ id: 'room', name: 'Room' }] }],
  }
  const written = await actor.send('POST', '/v1/listings', { body })
  const room = String(written.body.data.room_types[0].rooms[0].id)
  // In Japan, the stay ends an hour after the second midnight.
  const from = `${day(3).replaceAll('-', '')}T060000Z`
  const to = `${day(4).replaceAll('-', '')}T160000Z`
  const event = `BEGIN:VEVENT\r\nDTSTART:${from}\r\nDTEND:${to}\r\nEND:VEVENT\r\n`
  const file = await fileWith('times.ics', `BEGIN:VCALENDAR\r\n${event}END:VCALENDAR\r\n`)
  const inUtc = await json('check', file)
  const inJapan = await json('check', file, '--room', room)
  expect({ inUtc: inUtc.blocks, inJapan: inJapan.blocks }).toEqual({
    inUtc: [{ start_date: day(3), end_date: day(4) }],
    inJapan: [{ start_date: day(3), end_date: day(5) }],
  })
  expect(await calendars(['check', file, '--room', '999999999'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Room not found'),
  })
})

test.each([
  [['show', 'x'], 2, '"x" is not a valid id'],
  [['show', '999999999'], 1, 'Calendar not found'],
  [['read', '999999999'], 1, 'Calendar not found'],
  [['list', '--listing', '999999999'], 1, 'Listing not found'],
  [['list', '--status', 'broken'], 2, '"broken" is not one of waiting, ok, holding, failing'],
  [['list', '--limit', '0'], 2, '--limit must be an integer from 1 to 1000'],
  [['check', '/not/there.ics'], 2, 'Cannot read "/not/there.ics"'],
  [['check'], 2, 'FILE'],
])('partnerctl calendars %j fails in words', async (args, code, message) => {
  expect(await calendars(args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) })
})

test('calendars check refuses what is not a calendar, is empty or is UTF-16, in words', async () => {
  const page = await calendars(['check', await fileWith('page.ics', '<html></html>')])
  expect(page).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(
      '"text" must be an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR',
    ),
  })
  expect(await calendars(['check', '-'], '\n')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Standard input is empty'),
  })
  const utf16 = await fileWith('utf16.ics', Buffer.from(calendarOf([]), 'utf16le'))
  expect(await calendars(['check', utf16])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not UTF-8, but looks like UTF-16'),
  })
  const huge = await fileWith('huge.ics', calendarOf([]).padEnd(1024 * 1024 + 1, '\n'))
  expect(await calendars(['check', huge])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('text: "text" must have at most 1048576 characters'),
  })
  const larger = await fileWith('larger.ics', calendarOf([]).padEnd(3 * 1024 * 1024, '\n'))
  expect(await calendars(['check', larger])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The body must be at most 2097152 bytes (413)'),
  })
})
