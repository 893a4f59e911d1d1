import { expect, test } from 'vitest'
import { createClient, PartnerError } from '../../client/src/index.ts'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'

const service = await testApp()
const [{ url }] = sharedServices()

test('update() sets asOf on every item that has none, and returns the newest version', async () => {
  const actor = await service.actor()
  const { listing_id, room_type_id } = await seedBooking(actor)
  const client = createClient({ key: actor.key, baseUrl: url })
  let asOf: string | undefined
  for await (const { version } of client.bookings.feed()) asOf = version
  const unit = { listing_id, room_type_id, available: 1 }
  const own = '2020-01-01 00:00:00'
  const { newest_version } = await client.availability.update(
    [
      { ...unit, start_date: '2031-01-01', end_date: '2031-01-02' },
      { ...unit, start_date: '2031-02-01', end_date: '2031-02-02', as_of: null },
      { ...unit, start_date: '2031-03-01', end_date: '2031-03-02', as_of: own },
    ],
    { asOf },
  )
  expect(newest_version).toBe(asOf)
  const { availabilities } = await client.availability.get({ listing_id })
  const rows = availabilities[listing_id]?.[room_type_id] ?? []
  expect(rows.map(({ as_of }) => as_of)).toEqual([asOf, asOf, own])
})

test('an item with an older count is not one to leave out', async () => {
  const actor = await service.actor()
  const { listing_id, room_type_id } = await seedBooking(actor)
  const client = createClient({ key: actor.key, baseUrl: url })
  let asOf: string | undefined
  for await (const { version } of client.bookings.feed()) asOf = version
  const items = [{ listing_id, room_type_id, available: 1, start_date: '2031-01-01', end_date: '2031-01-02' }]
  await client.availability.update(items, { asOf })
  const error = await client.availability.update(items, { asOf: '2020-01-01 00:00:00' }).catch((one) => one)
  expect(error).toBeInstanceOf(PartnerError)
  expect({ status: error.status, path: error.errors[0].path, refused: error.refusedItems(items) }).toEqual({
    status: 409,
    path: 'data.0.as_of',
    refused: [],
  })
})
