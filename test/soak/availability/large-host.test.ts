import { expect, inject, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { availabilityCompactedModel } from '../../../src/inventory/availability/model.ts'
import { jobModel } from '../../../src/platform/outbox/outbox.ts'
import { testApp } from '../../support/app.ts'
import {
  type AvailabilityTree,
  largeHost,
  largeHostDays,
  rowsOf,
  storedRows,
} from '../../support/availability.ts'

const service = await testApp()
const { db } = service.live
const path = '/v1/integrations/provider_one/availability'
/** The first of the listing ids that only this test file uses. */
const firstListing = 8_000_000

const owner = await service.actor()
const pairs = await largeHost(db, owner, firstListing)

test('POST availability writes 1,000 items over 200 room types of 730 rows each, and GET shows them', async () => {
  const data = Array.from({ length: 1000 }, (_, index) => {
    const start_date = addDays('2027-06-01', Math.floor(index / 200) * 3)
    return { ...pairs[index % 200], available: 77, start_date, end_date: addDays(start_date, 1) }
  })
  const written = await owner.send('POST', path, { body: { data } })
  expect({ status: written.status, error: written.body.error }).toEqual({ status: 200, error: undefined })
  const { body } = await owner.send('GET', `${path}?per_page=500&start_date=2027-06-01&end_date=2027-06-15`)
  const tree = body.data.availabilities as AvailabilityTree
  expect(rowsOf(tree)).toHaveLength(200 * 10)
  for (const types of Object.values(tree)) {
    const [rows] = Object.values(types) as [ReturnType<typeof rowsOf>]
    expect(rows.slice(0, 3).map((row) => [row.start_date, row.end_date, row.available === 77])).toEqual([
      ['2027-06-01', '2027-06-02', true],
      ['2027-06-03', '2027-06-03', false],
      ['2027-06-04', '2027-06-05', true],
    ])
  }
})

test('GET availability between two dates shows the same rows for them as GET without dates', async () => {
  const whole = (await owner.send('GET', `${path}?per_page=5`)).body
  for (const [from, to] of [
    ['2027-06-02', '2027-06-04'],
    ['2027-06-05', undefined],
    [undefined, '2027-06-01'],
    ['2030-01-01', '2030-12-31'],
  ]) {
    const query = `${from ? `&start_date=${from}` : ''}${to ? `&end_date=${to}` : ''}`
    const { body } = await owner.send('GET', `${path}?per_page=5${query}`)
    const isInside = (row: ReturnType<typeof rowsOf>[number]) =>
      (!from || row.end_date >= from) && (!to || row.start_date <= to)
    const inside = Object.entries(whole.data.availabilities as AvailabilityTree).map(([id, types]) => [
      id,
      Object.fromEntries(Object.entries(types).map(([type, rows]) => [type, rows.filter(isInside)])),
    ])
    expect(body.data.availabilities).toEqual(Object.fromEntries(inside))
    expect(body.meta.pagination).toEqual(whole.meta.pagination)
  }
})

test('a room type whose availability is often rewritten is compacted automatically', async () => {
  const [pair] = pairs
  const item = { ...pair, available: 5, start_date: '2027-02-01', end_date: '2027-02-10' }
  for (let round = 0; round < 3; round += 1) {
    const data = Array.from({ length: 400 }, (_, at) => ({ ...item, available: at }))
    expect((await owner.send('POST', path, { body: { data } })).status).toBe(200)
  }
  const place = { owner_id: owner.hostId, room_type_id: pair?.room_type_id as number }
  const isWaiting = () => jobModel(db).exists({ topic: 'CompactAvailability', owner_id: owner.hostId })
  while (await isWaiting()) await Bun.sleep(50)
  const { length: stored } = await storedRows(db, place)
  expect(stored).toBeLessThan(largeHostDays)
  expect((await availabilityCompactedModel(db).findOne(place).lean())?.in_force).toBe(stored)
})

test('a client that disconnects during a large read stops the read', async () => {
  const apart = await testApp({ MONGODB_URL: `${inject('mongodbUrl')}&monitorCommands=true` })
  let reads = 0
  apart.live.db.getClient().on('commandStarted', ({ commandName, command }) => {
    if (command[commandName] === 'availability_blocks' || command.collection === 'availability_blocks')
      reads += 1
  })
  const ask = () =>
    apart.app.handle(
      new Request(`http://localhost${path}?per_page=500`, { headers: { 'x-api-key': owner.key } }),
    )
  const readsOf = async (read: () => Promise<unknown>) => {
    const before = reads
    await read()
    return reads - before
  }
  const whole = await readsOf(async () => (await ask()).text())
  const left = await readsOf(async () => {
    const reader = (await ask()).body?.getReader()
    await reader?.read()
    await reader?.cancel()
  })
  expect(whole).toBeGreaterThan(10)
  // The service may read a few rows ahead, but a read that continued would finish before the next full read.
  const after = await readsOf(async () => (await ask()).text())
  expect(left + after - whole).toBeLessThan(whole / 2)
})
