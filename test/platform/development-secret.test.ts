import { expect, test } from 'vitest'
import { openMongo } from '../../src/platform/mongo/connection.ts'
import { developmentSecret } from '../../src/platform/secrets/stored-secret.ts'
import { mongodbUrlOf } from '../support/databases.ts'

test('developmentSecret() returns the same secret to processes that start concurrently', async () => {
  const name = `secret_${crypto.randomUUID().slice(0, 8)}`
  const connections = await Promise.all(Array.from({ length: 8 }, () => openMongo(mongodbUrlOf(name))))
  const [first] = connections as [(typeof connections)[0]]
  const collection = first.collection('development_secrets')
  const differentSecrets: number[] = []
  for (let round = 0; round < 200; round += 1) {
    await collection.deleteMany({})
    const secrets = await Promise.all(connections.map(developmentSecret))
    differentSecrets.push(new Set(secrets).size)
  }
  await Promise.all(connections.map((db) => db.close()))
  expect(differentSecrets).toEqual(Array(200).fill(1))
})
