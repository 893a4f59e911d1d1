import { expect, test } from 'vitest'
import { admin, adminJson } from '../support/admin.ts'
import { seedBooking, testApp } from '../support/app.ts'

const service = await testApp()

test('partnerctl listings status changes the status that partners read', async () => {
  const actor = await service.actor()
  const { listing_id } = await seedBooking(actor)
  const statusOf = async () =>
    (await actor.send('GET', `/v1/listings/${listing_id}`)).body.data.listing_status
  expect(await statusOf()).toBe('draft')
  const changed = await adminJson('listings', 'status', String(listing_id), 'inactive')
  expect(changed).toMatchObject({ id: listing_id, listing_status: 'inactive' })
  expect(await statusOf()).toBe('inactive')
})

test.each([
  ['x', 'draft'],
  ['0', 'draft'],
  ['1', 'gone'],
])('partnerctl listings status %s %s is refused as a wrong use', async (id, status) => {
  expect((await admin('listings', 'status', id, status)).code).toBe(2)
})
