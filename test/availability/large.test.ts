import { expect, test } from 'vitest'
import { availabilityCompactedModel, availabilityRowModel } from '../../src/availability/model.ts'
import { bookingModel } from '../../src/bookings/model.ts'
import { addDays } from '../../src/clock.ts'
import { jobModel } from '../../src/platform/outbox/outbox.ts'
import { type Actor, sender, testApp, testEnvironment } from '../support/app.ts'
import { fillRows } from '../support/availability.ts'
import { fillPortfolio } from '../support/portfolio.ts'
import { startService } from '../support/processes.ts'

const service = await testApp()
const { db } = service.live
const path = '/v1/integrations/provider_one/availability'
const days = 730
/** No other test file has listings from this id on. */
const firstListing = 8_000_000

/** A host with 200 room types, each with a row for every day of two years. */
async function largeHost(owner: Actor, first: number) {
  await fillPortfolio(db, owner.hostId, 200, first)
  const pairs = Array.from({ length: 200 }, (_, at) => {
    return { listing_id: first + at, room_type_id: (first + at) * 10 }
  })
  await fillRows(db, owner.hostId, pairs, days)
  return pairs
}

const owner = await service.actor()
const pairs = await largeHost(owner, firstListing)

interface Row {
  start_date: string
  end_date: string
  available: number
}
type Tree = Record<string, Record<string, Row[]>>

const rowsOf = (tree: Tree) => Object.values(tree).flatMap((types) => Object.values(types).flat())

test('POST availability writes 1,000 items over 200 room types of 730 rows each, and GET shows them', async () => {
  const data = Array.from({ length: 1000 }, (_, index) => {
    const start_date = addDays('2027-06-01', Math.floor(index / 200) * 3)
    return { ...pairs[index % 200], available: 77, start_date, end_date: addDays(start_date, 1) }
  })
  const written = await owner.send('POST', path, { body: { data } })
  expect([written.status, written.body.error]).toEqual([200, undefined])
  const { body } = await owner.send('GET', `${path}?per_page=500&start_date=2027-06-01&end_date=2027-06-15`)
  const tree = body.data.availabilities as Tree
  expect(rowsOf(tree)).toHaveLength(200 * 10)
  for (const types of Object.values(tree)) {
    const [rows] = Object.values(types) as [Row[]]
    expect(rows.slice(0, 3).map((row) => [row.start_date, row.end_date, row.available === 77])).toEqual([
      ['2027-06-01', '2027-06-02', true],
      ['2027-06-03', '2027-06-03', false],
      ['2027-06-04', '2027-06-05', true],
    ])
  }
})

test('GET availability between dates shows the rows that GET without dates shows there', async () => {
  const whole = (await owner.send('GET', `${path}?per_page=5`)).body
  for (const [from, to] of [
    ['2027-06-02', '2027-06-04'],
    ['2027-06-05', undefined],
    [undefined, '2027-06-01'],
    ['2030-01-01', '2030-12-31'],
  ]) {
    const query = `${from ? `&start_date=${from}` : ''}${to ? `&end_date=${to}` : ''}`
    const { body } = await owner.send('GET', `${path}?per_page=5${query}`)
    const isInside = (row: Row) => (!from || row.end_date >= from) && (!to || row.start_date <= to)
    const inside = Object.entries(whole.data.availabilities as Tree).map(([id, types]) => [
      id,
      Object.fromEntries(Object.entries(types).map(([type, rows]) => [type, rows.filter(isInside)])),
    ])
    expect(body.data.availabilities).toEqual(Object.fromEntries(inside))
    expect(body.meta.pagination).toEqual(whole.meta.pagination)
  }
})

test('GET availability of 146,000 rows does not keep other requests waiting', async () => {
  const process = await startService(testEnvironment())
  try {
    const send = sender(fetch, process.url)
    await send('GET', `${path}?per_page=1`, { key: owner.key })
    let isDone = false
    const large = send('GET', `${path}?per_page=500`, { key: owner.key }).finally(() => {
      isDone = true
    })
    let servedMeanwhile = 0
    while (!isDone) {
      const health = await fetch(`${process.url}/healthz`)
      const me = await send('GET', '/v1/me', { key: owner.key })
      expect([health.status, me.status]).toEqual([200, 200])
      if (!isDone) servedMeanwhile += 1
    }
    const { status, body } = await large
    expect([status, rowsOf(body.data.availabilities).length > 140_000]).toEqual([200, true])
    expect(Object.keys(body.meta)).toEqual(['request_id', 'pagination'])
    expect(servedMeanwhile).toBeGreaterThan(5)
  } finally {
    await process.stop()
  }
})

test('a client that disconnects in the middle of a large read disturbs no other client', async () => {
  const process = await startService(testEnvironment())
  try {
    const leave = new AbortController()
    const response = await fetch(`${process.url}${path}?per_page=500`, {
      headers: { 'x-api-key': owner.key },
      signal: leave.signal,
    })
    await response.body?.getReader().read()
    leave.abort()
    const { status } = await sender(fetch, process.url)('GET', `${path}?per_page=1`, { key: owner.key })
    expect(status).toBe(200)
  } finally {
    expect(await process.end('SIGTERM')).toBe(0)
  }
})

test('a room type whose availability is often rewritten is compacted without being asked', async () => {
  const [pair] = pairs
  const item = { ...pair, available: 5, start_date: '2027-02-01', end_date: '2027-02-10' }
  for (let round = 0; round < 3; round += 1) {
    const data = Array.from({ length: 400 }, (_, at) => ({ ...item, available: at }))
    expect((await owner.send('POST', path, { body: { data } })).status).toBe(200)
  }
  const place = { host_id: owner.hostId, room_type_id: pair?.room_type_id as number }
  const isWaiting = () => jobModel(db).exists({ topic: 'CompactAvailability', host_id: owner.hostId })
  while (await isWaiting()) await Bun.sleep(50)
  const stored = await availabilityRowModel(db).countDocuments(place)
  expect(stored).toBeLessThan(days)
  expect((await availabilityCompactedModel(db).findOne(place).lean())?.in_force).toBe(stored)
})

test('concurrent bookings, writes and compactions over two processes never oversell', async () => {
  const processes = await Promise.all([startService(testEnvironment()), startService(testEnvironment())])
  try {
    const user = await owner.send('POST', '/v1/users', {
      body: { email: 'u@example.com', first_name: 'A', last_name: 'B' },
    })
    const pair = pairs[1] as (typeof pairs)[number]
    const other = { ...pair, available: 1, start_date: '2028-01-01', end_date: '2028-01-01' }
    const units = 7
    const set = { ...pair, available: units, start_date: '2027-09-01', end_date: '2027-09-30' }
    await owner.send('POST', path, { body: { data: [set] } })
    const stay = { checkin_at: '2027-09-05', checkout_at: '2027-09-20' }
    const body = { ...pair, ...stay, user_id: user.body.data.user_id }
    const over = (index: number) => sender(fetch, processes[index % 2]?.url)
    const responses = await Promise.all([
      ...Array.from({ length: 40 }, (_, index) =>
        over(index)('POST', '/v1/bookings', { key: owner.key, body }),
      ),
      ...Array.from({ length: 10 }, (_, index) =>
        over(index)('POST', path, {
          key: owner.key,
          body: { data: Array.from({ length: 120 }, () => other) },
        }),
      ),
    ])
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(units)
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(await bookingModel(db).countDocuments({ host_id: owner.hostId })).toBe(units)
  } finally {
    await Promise.all(processes.map((process) => process.stop()))
  }
})
