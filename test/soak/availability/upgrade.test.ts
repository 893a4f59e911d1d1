import { expect, test } from 'vitest'
import { upgradeAvailability } from '../../../src/availability/upgrade.ts'
import { addDays } from '../../../src/clock.ts'
import { createHost } from '../../../src/hosts/store.ts'
import { mongodbUrlOf, testApp } from '../../support/app.ts'
import { fillPortfolio } from '../../support/portfolio.ts'

const service = await testApp({ MONGODB_URL: mongodbUrlOf('earlier_availability') })
const { db, clock } = service.live
const path = '/v1/integrations/provider_one/availability'
const updated_at = new Date('2026-01-02T03:04:05Z')

/** A document as the earlier version wrote it. */
function earlierDocument(host_id: number, listing_id: number, days: number, sequence: number) {
  const rows = Array.from({ length: days }, (_, day) => {
    const [start_date, end_date] = [addDays('2027-01-01', day * 2), addDays('2027-01-01', day * 2 + 1)]
    return { id: listing_id * 100_000 + day, available: day % 3, start_date, end_date, updated_at, sequence }
  })
  return { host_id, listing_id, room_type_id: listing_id * 10, rows }
}

test('upgradeAvailability() carries over what an earlier version stored, even beside another process', async () => {
  const actor = await service.actor()
  await fillPortfolio(db, actor.hostId, 3, 1)
  const earlier = db.collection('availability')
  const documents = [400, 10_000, 0].map((days, at) => earlierDocument(actor.hostId, at + 1, days, 0))
  await earlier.insertMany(documents.map((document) => ({ ...document })))
  // Two processes start at once; a start that was cut short leaves the rest to the next one.
  await Promise.all([upgradeAvailability(db), upgradeAvailability(db)])
  await upgradeAvailability(db)
  expect(await earlier.countDocuments()).toBe(0)
  const { body } = await actor.send('GET', path)
  for (const { listing_id, room_type_id, rows } of documents) {
    const expected = rows.map(({ sequence: _, ...row }) => {
      return { ...row, listing_id, room_type_id, updated_at: '2026-01-02T03:04:05.000000Z' }
    })
    expect(body.data.availabilities[listing_id][room_type_id]).toEqual(expected)
  }
})

test('rows that were carried over can be overwritten like any others', async () => {
  const actor = await service.actor()
  await fillPortfolio(db, actor.hostId, 1, 50)
  await db.collection('availability').insertOne(earlierDocument(actor.hostId, 50, 10_000, 0))
  await upgradeAvailability(db)
  const item = { listing_id: 50, room_type_id: 500, available: 9 }
  const send = (start_date: string, end_date: string) =>
    actor.send('POST', path, { body: { data: [{ ...item, start_date, end_date }] } })
  expect((await send('2027-01-01', '2027-01-01')).status).toBe(200)
  expect((await send('2027-01-02', '2027-01-05')).status).toBe(200)
  const { body } = await actor.send('GET', `${path}?end_date=2027-01-06`)
  const shown = body.data.availabilities[50][500] as { start_date: string; end_date: string }[]
  expect(shown.map(({ start_date, end_date }) => [start_date, end_date])).toEqual([
    ['2027-01-01', '2027-01-01'],
    ['2027-01-02', '2027-01-05'],
    ['2027-01-06', '2027-01-06'],
  ])
})

test('upgradeAvailability() adds what a process of the earlier version wrote after the carry-over', async () => {
  const { id: hostId } = await createHost(db, clock, { name: 'H', email: 'late@example.com' })
  await fillPortfolio(db, hostId, 1, 60)
  const earlier = db.collection('availability')
  await earlier.insertOne(earlierDocument(hostId, 60, 3, 1))
  await upgradeAvailability(db)
  const late = earlierDocument(hostId, 60, 1, 2)
  await earlier.insertOne({ ...late, rows: late.rows.map((row) => ({ ...row, id: 1, available: 8 })) })
  await upgradeAvailability(db)
  const written = await db.collection('availability_rows').find({ host_id: hostId }).toArray()
  expect(written).toHaveLength(4)
})
