import { Redis } from 'ioredis'
import mongoose from 'mongoose'
import { afterAll, inject, onTestFinished, TestRunner } from 'vitest'
import { readConfig } from '../../src/core/config.ts'
import { compose } from '../../src/process/wiring.ts'
import { environmentOf } from './environment.ts'
import { stopServicesOn } from './processes.ts'

/** Databases of this worker that are not in use. */
const free: string[] = []
let created = 0

/**
 * Runs `work` after the current test, or after the file if no test is running. A file's hook would be lost if it were
 * registered during a test.
 *
 * @throws Error in a concurrent test, because the current test cannot be determined there
 */
export function onScopeEnd(work: () => Promise<unknown>): void {
  const test = TestRunner.getCurrentTest()
  if (test?.concurrent) throw new Error('Open it outside of the tests, which run side by side here')
  const done = () => work().then(() => {})
  if (test) onTestFinished(done)
  else afterAll(done)
}

/** Returns the address of a database on this run's server, for tests of collections and indexes. */
export function mongodbUrlOf(database: string): string {
  return inject('mongodbUrl').replace('/?', `/${database}?`)
}

/**
 * Returns the address of a database that no other test uses at the same time, for a file or a test that runs alone in
 * its worker. The database is emptied and reused afterwards, because each database needs hundreds of tables.
 */
export async function ownDatabase(): Promise<string> {
  const name = free.pop()
  const own = name ?? nameOfNext()
  onScopeEnd(async () => {
    await stopServicesOn(own)
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
 * Creates a service's collections. Only one worker does so at a time, because two databases created concurrently would
 * prevent each other from splitting the catalogue page that both write to, and everything would wait for half a minute.
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
  // Ids start over, so rate limit windows stored under the reused ids are deleted.
  const redis = new Redis(inject('redisUrl'))
  for await (const keys of redis.scanStream({ match: `${name}:*`, count: 1000 }))
    if (keys.length > 0) await redis.del(keys)
  await redis.quit()
}
