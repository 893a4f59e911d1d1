import { Redis } from 'ioredis'
import mongoose from 'mongoose'
import { afterAll, inject, onTestFinished, TestRunner } from 'vitest'

/** Those of this worker that nobody uses at the moment. */
const free: string[] = []
let created = 0

/**
 * Does it when the test that is running is over, or, outside of one, the file. A hook of the file would be lost in a test.
 *
 * @throws Error in a test that runs beside others: nobody knows there which of them it is
 */
export function atEnd(work: () => Promise<unknown>): void {
  const test = TestRunner.getCurrentTest()
  if (test?.concurrent) throw new Error('Open it outside of the tests, which run side by side here')
  const done = () => work().then(() => {})
  if (test) onTestFinished(done)
  else afterAll(done)
}

/** A database by its name on the server of this run, for tests that are about collections and indexes. */
export function mongodbUrlOf(database: string): string {
  return inject('mongodbUrl').replace('/?', `/${database}?`)
}

/**
 * A database that no other test uses meanwhile, for a file or a test that runs alone in its worker. Afterwards it is emptied and used again: a server that is given hundreds
 * of tables between two checkpoints rewrites its catalogue for minutes, and does nothing else.
 */
export function ownDatabase(): string {
  const name = free.pop() ?? nameOfNext()
  atEnd(async () => {
    await empty(name)
    free.push(name)
  })
  return mongodbUrlOf(name)
}

function nameOfNext(): string {
  created += 1
  return `own_${process.pid}_${created}`
}

async function empty(name: string): Promise<void> {
  const connection = await mongoose.createConnection(mongodbUrlOf(name)).asPromise()
  for (const one of [connection, connection.useDb(`${name}_sandbox`)]) {
    const collections = (await one.db?.collections()) ?? []
    await Promise.all(
      collections.map((collection) =>
        collection.collectionName.startsWith('system.') ? collection.drop() : collection.deleteMany({}),
      ),
    )
  }
  await connection.close()
  // Ids begin anew, and so do the windows that go by them.
  const redis = new Redis(inject('redisUrl'))
  for await (const keys of redis.scanStream({ match: `${name}:*`, count: 1000 }))
    if (keys.length > 0) await redis.del(keys)
  await redis.quit()
}
