import mongoose from 'mongoose'
import { expect, test } from 'vitest'
import { listingModel } from '../../../src/listings/model.ts'
import { userModel } from '../../../src/users/model.ts'
import { mongodbUrlOf, testApp } from '../../support/app.ts'

const indexes = {
  listings: { key: { host_id: 1, 'content.original_id': 1 }, name: 'listing_original_id' },
  users: { key: { host_id: 1, email: 1 }, name: 'user_email' },
} as const

test('a start on the data of the previous version adds the fields of the new indexes and drops the old indexes', async () => {
  const url = mongodbUrlOf(`upgrade_${crypto.randomUUID().slice(0, 8)}`)
  const before = await mongoose.createConnection(url).asPromise()
  for (const [collection, { key, name }] of Object.entries(indexes))
    await before.collection(collection).createIndex(key as never, { unique: true, name })
  const content = { name: 'Kept', original_id: 'one', original_url: 'https://x.example/one', room_types: [] }
  const at = new Date()
  const common = { host_id: 1, created_at: at, updated_at: at }
  await before.collection('listings').insertOne({
    ...{ ...common, id: 900, unique_id: 'lst_900', content, name_key: 'kept' },
    ...{ listing_status: 'draft', status_rank: 0 },
  })
  await before.collection('users').insertOne({ ...common, id: 900, email: 'kept@example.com', name: 'K' })
  await before.close()

  const service = await testApp({ MONGODB_URL: url })
  const { db } = service.live
  const found: Record<string, object> = {}
  for (const [collection, { name }] of Object.entries(indexes)) {
    const names = (await db.collection(collection).indexes()).map((index) => index.name)
    found[collection] = { hasOld: names.includes(name), hasNew: names.includes(`${name}_key`) }
  }
  const upgraded = { hasOld: false, hasNew: true }
  expect(found).toEqual({ listings: upgraded, users: upgraded })
  expect((await listingModel(db).findOne({ id: 900 }).lean())?.original_id_key).toHaveLength(43)
  expect((await userModel(db).findOne({ id: 900 }).lean())?.email_key).toHaveLength(43)
  const actor = await service.actor()
  expect(actor.hostId).toBe(1)
  const again = await actor.send('POST', '/v1/listings', { body: { name: 'Again', original_id: 'one' } })
  expect([again.status, again.body.data.id]).toEqual([200, 900])
  const user = { email: 'Kept@example.com', first_name: 'A', last_name: 'B' }
  const taken = await actor.send('POST', '/v1/users', { body: user })
  expect([taken.status, taken.body.error.errors[0].path]).toEqual([422, 'email'])
})
