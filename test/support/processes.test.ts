import { expect, test } from 'vitest'
import { testEnvironment } from './app.ts'
import { mongodbUrlOf, ownDatabase } from './databases.ts'
import { startService, stopServicesOn } from './processes.ts'

const mongodbUrl = await ownDatabase()

test('a service that a failed test has left behind ends with its database, and no other one does', async () => {
  const left = await startService(testEnvironment({ MONGODB_URL: mongodbUrl }))
  const database = new URL(mongodbUrl).pathname.slice(1)
  expect(mongodbUrlOf(database)).toBe(mongodbUrl)
  await stopServicesOn('another')
  expect((await fetch(`${left.url}/readyz`)).status).toBe(200)
  await stopServicesOn(database)
  expect(await left.exited).toBe(137)
})
