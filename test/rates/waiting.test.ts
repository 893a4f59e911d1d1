import { expect, test } from 'vitest'
import { listingModel } from '../../src/listings/model.ts'
import { waitingRatesModel } from '../../src/listings/waiting-rates-model.ts'
import { jobModel } from '../../src/platform/outbox/outbox.ts'
import { mongodbUrlOf, testApp } from '../support/app.ts'
import { fillListings, stay, userOf } from '../support/large-listings.ts'

const service = await testApp({
  MONGODB_URL: mongodbUrlOf(`waiting_rates_${crypto.randomUUID().slice(0, 8)}`),
})
const { db } = service.live
const path = '/v1/integrations/provider_one/rates'

test('a listing that cannot be written delays no other, and its waiting rates still set the price of a booking', async () => {
  const actor = await service.actor()
  const [sick, well] = await fillListings(service, actor, 2)
  // Prices that are not an object make every write into them fail.
  const broken = { $set: { 'content.room_types.0.prices': 'broken' } }
  await listingModel(db).collection.updateOne({ id: sick?.listing_id as number }, broken)
  const data = [sick, well].map((unit) => ({ ...unit, base_price: 9 }))
  expect((await actor.send('POST', path, { body: { data } })).status).toBe(200)
  const waiting = () => waitingRatesModel(db).find({ host_id: actor.hostId }).lean()
  while ((await waiting()).length > 1) await Bun.sleep(20)
  expect((await waiting()).map(({ listing_id }) => listing_id)).toEqual([sick?.listing_id])
  while (!(await jobModel(db).exists({ last_error: /Listing/ }))) await Bun.sleep(20)
  const user_id = await userOf(actor)
  const booking = await actor.send('POST', '/v1/bookings', { body: { ...sick, user_id, ...stay } })
  expect([booking.status, booking.body.data.price]).toEqual([201, 9])
})

test('rates accepted by an earlier version are applied before newer ones', async () => {
  const actor = await service.actor()
  const [unit] = await fillListings(service, actor, 1)
  const item = (more: object) => ({ ...unit, currency: 'EUR', ...more })
  const earlier = (sequence: number, ...items: object[]) => ({
    ...{ host_id: actor.hostId, sequence, accepted_at: new Date() },
    items,
  })
  await db
    .collection('accepted_rates')
    .insertMany([earlier(7, item({ base_price: 1, price_jan: 5 })), earlier(8, item({ base_price: 2 }))])
  const job = { topic: 'ApplyRates', host_id: actor.hostId, payload: { host_id: actor.hostId } }
  expect((await actor.send('POST', path, { body: { data: [{ ...unit, base_price: 3 }] } })).status).toBe(200)
  const now = new Date()
  await jobModel(db).create({ ...job, due_at: now, created_at: now })
  while (await db.collection('accepted_rates').findOne({ host_id: actor.hostId })) await Bun.sleep(20)
  while (await waitingRatesModel(db).exists({ host_id: actor.hostId })) await Bun.sleep(20)
  const { body } = await actor.send('GET', `/v1/listings/${unit?.listing_id}`)
  expect(body.data.room_types[0].prices).toMatchObject({ base_price: 3 })
})
