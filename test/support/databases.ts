import { Redis } from 'ioredis'
import mongoose from 'mongoose'
import { afterAll, inject, onTestFinished, TestRunner } from 'vitest'
import { readConfig } from '../../src/core/config.ts'
import { compose } from '../../src/process/wiring.ts'
import { environmentOf } from './environment.ts'

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
 * A database that no other test uses meanwhile, for a file or a test that runs alone in its worker. Afterwards it is
 * emptied and used again: each has hundreds of tables.
 */
export async function ownDatabase(): Promise<string> {
  const name = free.pop()
  const own = name ?? nameOfNext()
  atEnd(async () => {
    await empty(own)
    free.push(own)
  })
  if (!name) await createDatabase(own)
  return mongodbUrlOf(own)
}

function nameOfNext(): string {
  created += 1
  return `own_${process.pid}_${created}`
}

/**
 * Creates the collections of a service, one database after the other in all workers: of two at once, each keeps the page of
 * the catalogue from being split that both write to, and everything waits for half a minute.
 */
export async function createDatabase(name: string): Promise<void> {
  const redis = new Redis(inject('redisUrl'))
  while (!(await redis.set('creating', name, 'PX', 60_000, 'NX'))) await Bun.sleep(20)
  try {
    const environment = environmentOf(mongodbUrlOf(name), inject('redisUrl'))
    const context = await compose(readConfig(environment), { noTimeouts: true })
    await context.close()
  } finally {
    await redis.del('creating')
    await redis.quit()
  }
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
