import { expect, test } from 'vitest'
import { nextIds, raiseSequences, sequenceModel } from '../../../src/platform/ids/sequences.ts'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { mongodbUrlOf } from '../../support/databases.ts'

test('raiseSequences() succeeds in processes that start concurrently', async () => {
  const name = `sequences_${crypto.randomUUID().slice(0, 8)}`
  const connections = await Promise.all(Array.from({ length: 8 }, () => openMongo(mongodbUrlOf(name))))
  const [first] = connections as [(typeof connections)[0]]
  const nextOfRounds: number[] = []
  for (let round = 0; round < 100; round += 1) {
    await sequenceModel(first).collection.deleteMany({})
    await Promise.all(connections.map((db) => raiseSequences(db, ['booking', 'user'], 10_000)))
    nextOfRounds.push(await nextIds(first, 'booking'))
  }
  await Promise.all(connections.map((db) => db.close()))
  expect(nextOfRounds).toEqual(Array(100).fill(10_001))
})
