import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readBookingsFile } from '../../cli/partner/reconcile/bookings-file.ts'
import { sharedServices, testApp } from '../support/app.ts'
import { type CsvRow, exportOf, toCsv } from '../support/drift.ts'
import { wellFormedKey } from '../support/keys.ts'
import { fillBookings } from '../support/many-bookings.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()
const folder = await mkdtemp(join(tmpdir(), 'partner-reconcile-'))
afterAll(() => rm(folder, { recursive: true }))

const written = async (content: string | Uint8Array) => {
  const file = join(folder, crypto.randomUUID())
  await Bun.write(file, content)
  return file
}

/** Creates a host with bookings. Returns their export, and functions that run commands as the host's partner. */
async function partner(count: number) {
  const actor = await service.actor()
  await fillBookings(service.live.db, actor.hostId, count)
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key }
  const run = (args: string[], stdin?: string) => partnerctl(['reconcile', ...args], environment, stdin)
  const against = async (content: string, ...args: string[]) => {
    const { code, stdout, stderr } = await run(['--against', await written(content), '--json', ...args])
    return { code, stderr, ...JSON.parse(stdout) }
  }
  return { actor, environment, run, against, rows: await exportOf(actor) }
}

const none = { missing: [], extra: [], different: [], newer: [] }

test.concurrent('reconcile needs one request to find no difference from what the feed delivered', async ({
  expect,
}) => {
  const { environment, against, run, rows } = await partner(60)
  const polled = await partnerctl(
    ['feed', 'poll', '--once', '--output', 'csv', '--state', join(folder, 'state')],
    environment,
  )
  const version = rows.at(-1)?.version
  const same = { code: 0, version, compared: 60, requests: 1, ...none }
  expect(await against(polled.stdout)).toMatchObject(same)
  expect(
    await against(
      rows
        .toReversed()
        .map((row) => JSON.stringify(row))
        .join('\n'),
    ),
  ).toMatchObject(same)
  const read = await run(['--against', '-'], toCsv(rows))
  expect(read).toMatchObject({
    code: 0,
    stdout: `No difference\n\n60 of your bookings compared in 1 request, as of ${version}\n`,
  })
})

test.concurrent('missing, extra and different bookings are found, each with both sides', async ({
  expect,
}) => {
  const { against, run, rows } = await partner(60)
  const lost = rows[3] as CsvRow
  const moved = rows[20] as CsvRow
  const other = rows[40] as CsvRow
  const extra = { ...lost, booking_id: 77, checkin_at: '2029-05-05', checkout_at: '2029-06-05' }
  const elsewhere = { ...moved, checkin_at: '2025-03-01' }
  const wrong = { ...other, status: other.status === 'pending' ? 'confirmed' : 'pending' }
  const held = [...rows.filter((row) => ![lost, moved, other].includes(row)), extra, elsewhere, wrong]
  const found = await against(toCsv(held))
  const here = ({ booking_id, version, status, checkin_at, checkout_at }: CsvRow) => ({
    booking_id,
    version,
    status,
    checkin_at,
    checkout_at,
  })
  expect(found).toMatchObject({
    code: 1,
    missing: [here(lost)],
    extra: [here(extra)],
    different: [
      { booking_id: moved.booking_id, here: here(moved), there: here(elsewhere) },
      { booking_id: other.booking_id, here: here(other), there: here(wrong) },
    ],
    newer: [],
  })
  const days = new Set([lost, moved, other, extra, elsewhere].map(({ checkin_at }) => checkin_at))
  const months = new Set([...days].map((day) => day.slice(0, 7)))
  expect(found.requests).toBe(1 + months.size + days.size)
  const text = await run(['--against', '-'], toCsv(held))
  expect(text.code).toBe(1)
  expect(text.stderr).toBe('Bookings that differ: 4\n')
  expect(text.stdout).toContain(`missing     ${lost.booking_id}  ${lost.status} ${lost.checkin_at}`)
})

test.concurrent('a booking newer than the file or --since is not a difference', async ({ expect }) => {
  const { against, rows } = await partner(30)
  const newest = rows.at(-1) as CsvRow
  const before = rows.slice(0, -1)
  const late = await against(toCsv(before))
  expect(late).toMatchObject({ ...none, code: 0, newer: [{ booking_id: newest.booking_id }] })
  const since = newest.version
  expect(await against(toCsv(before), '--since', since)).toMatchObject({
    ...none,
    code: 1,
    missing: [{ booking_id: newest.booking_id }],
  })
  const withoutVersions = before.map(({ version: _, ...row }) => row)
  expect(await against(toCsv(withoutVersions))).toMatchObject({ code: 1, newer: [] })
})

test.concurrent('--listing compares the bookings of one listing', async ({ expect }) => {
  const { actor, against } = await partner(0)
  const made = await actor.send('POST', '/v1/listings', { body: { name: 'A', room_types: [{ name: 'R' }] } })
  const found = await against(toCsv([]), '--listing', String(made.body.data.id))
  expect(found).toMatchObject({ code: 0, version: null, compared: 0, requests: 1, ...none })
  const { run } = await partner(0)
  const foreign = await run(['--against', '-', '--listing', String(made.body.data.id)], toCsv([]))
  expect(foreign).toMatchObject({ code: 1, stderr: expect.stringContaining('Listing not found') })
})

const header = 'booking_id,status,checkin_at,checkout_at'
const line = '7,pending,2027-01-01,2027-02-01'

const malformed: [content: string, line: number, what: string][] = [
  ['', 1, 'the header line with the column names is missing'],
  ['\n\n', 1, 'the header line with the column names is missing'],
  ['status,checkin_at,checkout_at\n', 1, 'no column "booking_id"'],
  [`${header}\n${line}\n${line}\n`, 3, 'appears more than once'],
  [`${header}\n${line},more\n`, 2, 'Invalid Record Length'],
  [`${header}\n${line}\n8,"pending,2027-01-01,2027-02-01\n`, 3, 'Quote'],
  [`${header}\n${line}\n08,pending,2027-01-01,2027-02-01\n`, 3, '"booking_id" must be the id'],
  [`${header}\r\n${line}\r\n8,Pending,2027-01-01,2027-02-01\r\n`, 3, '"status" must be one of'],
  [`${header}\n8,pending,2027-02-30,2027-02-01\n`, 2, '"checkin_at" must be a day'],
  [`${header}\n8,pending,2027-02-01,01.03.2027\n`, 2, '"checkout_at" must be a day'],
  [`${header},version\n${line},yesterday\n`, 2, '"version" must be written'],
  [`${header}\n${'x'.repeat(10_000_000)},pending,2027-01-01,2027-02-01\n`, 2, '"booking_id" must be the id'],
  ['{"booking_id": 7', 1, 'is not a JSON object'],
  ['{}\n', 1, '"booking_id" must be the id'],
  [
    '{"booking_id":7,"status":"pending","checkin_at":"2027-01-01","checkout_at":"2027-02-01"}\nnull\n',
    2,
    'is not a JSON object',
  ],
  [
    '{"booking_id":[7],"status":"pending","checkin_at":"2027-01-01","checkout_at":"2027-02-01"}\n',
    1,
    '"booking_id" must be the id',
  ],
]

test.each(malformed.map(([content, line, what]) => [line, what, content] as const))(
  'a file is refused at line %i: %s',
  async (lineNumber, what, content) => {
    const failure = await readBookingsFile(await written(content)).catch((error) => error)
    expect(failure.message).toMatch(new RegExp(`^Line ${lineNumber} of the file(: | is )`))
    expect(failure.message).toContain(what)
  },
)

test('a line that is not a JSON object is named in one sentence', async () => {
  const failure = await readBookingsFile(await written('{"a":1\n')).catch((error) => error)
  expect(failure.message).toBe('Line 1 of the file is not a JSON object')
})

test('a file may have a byte order mark, other columns in any order, quotes, and empty versions', async () => {
  const content = `\uFEFFnote,checkout_at, status ,booking_id,checkin_at,version\r\n"a, ""b""\nc",2027-02-01,pending,7,2027-01-01,\r\n\r\n`
  expect(await readBookingsFile(await written(content))).toEqual([
    { booking_id: 7, status: 'pending', checkin_at: '2027-01-01', checkout_at: '2027-02-01' },
  ])
})

test('a malformed or missing file is refused before any request is sent', async () => {
  const environment = { PARTNER_BASE_URL: 'http://127.0.0.1:1', PARTNER_API_KEY: wellFormedKey }
  const run = (args: string[]) => partnerctl(['reconcile', ...args], environment)
  const malformed = await run(['--against', await written(`${header}\n${line}\n${line}\n`)])
  expect(malformed).toMatchObject({
    code: 1,
    stderr: 'Line 3 of the file: "booking_id" 7 appears more than once\n',
  })
  expect((await run(['--against', join(folder, 'absent')])).code).toBe(2)
  expect((await run([])).code).toBe(2)
  expect((await run(['--against', '-', '--since', 'yesterday'])).code).toBe(2)
  expect((await run(['--against', '-', '--listing', 'x'])).code).toBe(2)
})
