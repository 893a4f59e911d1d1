import { expect, test } from 'vitest'
import { batchedLookUp, lookUpById } from '../../../src/platform/mongo/look-up.ts'
import { userModel } from '../../../src/stays/users/model.ts'
import { seedBooking, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

const { live, actor } = await testApp()

/**
 * Returns a look-up and the queries that it has sent. Query n ends once promise n of `ends` settles, or immediately if
 * there is none.
 */
function recordedLookUp(ends: Promise<unknown>[] = []) {
  const queries: number[][] = []
  const lookUp = batchedLookUp<{ id: number }, { id: number; read: number }>(
    async (_, keys) => {
      const read = queries.push(keys.map(({ id }) => id))
      await ends[read - 1]
      return keys.filter(({ id }) => id < 100).map(({ id }) => ({ id, read }))
    },
    ({ id }) => id,
  )
  return { queries, lookUp: (id: number) => lookUp(live.db, { id }) }
}

test('look-ups that arrive during queries share the next one, and none joins a query that was sent before it', async () => {
  const one = Promise.withResolvers<void>()
  const other = Promise.withResolvers<void>()
  const { queries, lookUp } = recordedLookUp([one.promise, other.promise])
  const early = [lookUp(1)]
  await expect.poll(() => queries.length).toBe(1)
  early.push(lookUp(1))
  await expect.poll(() => queries.length).toBe(2)
  const late = [lookUp(1), lookUp(2), lookUp(2), lookUp(100)]
  other.resolve()
  expect(await early[1]).toEqual({ id: 1, read: 2 })
  const read = { read: 3 }
  expect(await Promise.all(late)).toEqual([{ id: 1, ...read }, { id: 2, ...read }, { id: 2, ...read }, null])
  one.resolve()
  expect(await early[0]).toEqual({ id: 1, read: 1 })
  expect(queries).toEqual([[1], [1], [1, 2, 2, 100]])
})

test('queries that hang hold up no look-up after them', async () => {
  const forever = new Promise(() => {})
  const { queries, lookUp } = recordedLookUp([forever, forever])
  for (const hanging of [1, 2]) {
    lookUp(hanging)
    await expect.poll(() => queries.length).toBe(hanging)
  }
  expect(await lookUp(3)).toEqual({ id: 3, read: 3 })
})

test('a failed query fails only its own look-ups', async () => {
  const failing = Promise.reject(new Error('The primary is gone'))
  failing.catch(() => {})
  const { lookUp } = recordedLookUp([failing])
  await expect(lookUp(1)).rejects.toThrow('The primary is gone')
  expect(await lookUp(1)).toEqual({ id: 1, read: 2 })
})

test('hosts that concurrently look up each other’s documents get only their own', async () => {
  const partners = await Promise.all([actor(), actor()])
  const seeded = await Promise.all(partners.map((partner) => seedBooking(partner)))
  const ids = seeded.map(({ user_id }) => user_id)
  const lookUp = lookUpById<{ owner_id: number; id: number }>(userModel)
  const found = await Promise.all(
    partners.flatMap(({ hostId }) => ids.map((id) => lookUp(live.db, { owner_id: hostId, id }))),
  )
  expect(found.map((document) => document?.id ?? null)).toEqual([ids[0], null, null, ids[1]])
})

test('a hundred hosts that look up equal ids together read only the documents that they asked for', async () => {
  const apart = await testApp({ MONGODB_URL: await ownDatabase() })
  const { db } = apart.live
  const hosts = Array.from({ length: 100 }, (_, index) => index + 1)
  const ids = hosts.map((host) => 1000 + host)
  const { collection } = userModel(db)
  await collection.insertMany(
    hosts.flatMap((owner_id) => ids.map((id) => ({ owner_id, id, email_key: `${id}` }))),
  )
  await db.getClient().db(db.name).command({ profile: 2 })
  const lookUp = lookUpById<{ owner_id: number; id: number }>(userModel)
  const found = await Promise.all(
    hosts.map((owner_id) => lookUp(apart.live.db, { owner_id, id: 1000 + owner_id })),
  )
  await db.getClient().db(db.name).command({ profile: 0 })
  const queries = await db
    .collection('system.profile')
    .find({ ns: `${db.name}.users`, op: { $in: ['query', 'getmore'] } })
    .toArray()
  const documentsRead = queries.reduce((sum, { docsExamined }) => sum + docsExamined, 0)
  expect({ found: found.map((user) => user?.id), documentsRead }).toEqual({ found: ids, documentsRead: 100 })
})
