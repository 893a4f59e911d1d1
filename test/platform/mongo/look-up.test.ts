import { expect, test } from 'vitest'
import { lookUpById, lookUpTogether } from '../../../src/platform/mongo/look-up.ts'
import { userModel } from '../../../src/stays/users/model.ts'
import { seedBooking, testApp } from '../../support/app.ts'

const { live, actor } = await testApp()

/** A look-up that records its queries, each of which takes as long as `queryTakes()`. */
function recordedLookUp(queryTakes: () => Promise<unknown>) {
  const queries: number[][] = []
  const lookUp = lookUpTogether<{ id: number }, { id: number; read: number }>(
    async (_, keys) => {
      const read = queries.push(keys.map(({ id }) => id))
      await queryTakes()
      return keys.filter(({ id }) => id < 100).map(({ id }) => ({ id, read }))
    },
    ({ id }) => id,
  )
  return { queries, lookUp: (id: number) => lookUp(live.db, { id }) }
}

test('look-ups that arrive during a query share the next one, and none joins a query that was sent before it', async () => {
  const first = Promise.withResolvers<void>()
  const { queries, lookUp } = recordedLookUp(() => (queries.length === 1 ? first.promise : Promise.resolve()))
  const early = lookUp(1)
  await expect.poll(() => queries.length).toBe(1)
  const late = [lookUp(1), lookUp(2), lookUp(2), lookUp(100)]
  first.resolve()
  expect(await early).toEqual({ id: 1, read: 1 })
  const read = { read: 2 }
  expect(await Promise.all(late)).toEqual([{ id: 1, ...read }, { id: 2, ...read }, { id: 2, ...read }, null])
  expect(queries).toEqual([[1], [1, 2, 2, 100]])
})

test('a query that hangs holds up no look-up after it', async () => {
  const { queries, lookUp } = recordedLookUp(() =>
    queries.length === 1 ? new Promise(() => {}) : Promise.resolve(),
  )
  lookUp(1)
  await expect.poll(() => queries.length).toBe(1)
  expect(await lookUp(2)).toEqual({ id: 2, read: 2 })
})

test('a failed query fails only its own look-ups', async () => {
  const { queries, lookUp } = recordedLookUp(async () => {
    if (queries.length === 1) throw new Error('The primary is gone')
  })
  await expect(lookUp(1)).rejects.toThrow('The primary is gone')
  expect(await lookUp(1)).toEqual({ id: 1, read: 2 })
})

test('hosts that look up each other’s documents at the same moment get only their own', async () => {
  const partners = await Promise.all([actor(), actor()])
  const seeded = await Promise.all(partners.map((partner) => seedBooking(partner)))
  const ids = seeded.map(({ user_id }) => user_id)
  const lookUp = lookUpById<{ host_id: number; id: number }>(userModel)
  const found = await Promise.all(
    partners.flatMap(({ hostId }) => ids.map((id) => lookUp(live.db, { host_id: hostId, id }))),
  )
  expect(found.map((document) => document?.id ?? null)).toEqual([ids[0], null, null, ids[1]])
})
