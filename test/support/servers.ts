import { chmod, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { becomePrimary, findMongod, launch, shutDown, urlOf } from '../../src/platform/mongo/server/mongod.ts'
import { freePort } from '../../src/platform/process.ts'
import { environmentOf } from './environment.ts'
import { startService } from './processes.ts'
import { startRedis } from './redis.ts'

declare module 'vitest' {
  interface ProvidedContext {
    mongodbUrl: string
    redisUrl: string
    /** Two processes of the service with the settings of `testEnvironment()`, for tests that need another process. */
    serviceUrls: [string, string]
    /** The folder in which everything that this run creates has its temporary files. */
    temporaryFolder: string
  }
}

/** Postpones checkpoints, which conflict with the creation of collections, and disables unused diagnostic data. */
const options = ['--syncdelay', '600', '--setParameter', 'diagnosticDataCollectionEnabled=false']
const startTimeoutMilliseconds = 60_000

/** An in-memory file system, so that nothing waits for a disk. A run's data need not survive a reboot. */
const inMemory = '/dev/shm'
const neededBytes = 4 * 2 ** 30

/** Creates a run's data folder, in memory if there is room. */
async function dataFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(inMemory).catch(() => ({ bavail: 0, bsize: 0 }))
  return mkdtemp(join(bavail * bsize >= neededBytes ? inMemory : tmpdir(), 'partner-test-'))
}

/**
 * Creates a temporary folder for this run only, and makes it the temporary folder of all workers and of the programs
 * that they start. Without it, each run would leave a hundred folders behind: of tests, of browsers and of tools.
 */
async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-run-'))
  // Programs that a test starts under another account, such as nginx's workers, have files in it too.
  await chmod(folder, 0o755)
  process.env.TMPDIR = folder
  return folder
}

async function startMongod(dataDir: string) {
  await mkdir(join(dataDir, 'mongodb'))
  const port = await freePort()
  launch(findMongod(), dataDir, port, options)
  if (!(await becomePrimary(port, startTimeoutMilliseconds)))
    throw new Error(`mongod did not start; see ${join(dataDir, 'mongod.log')}`)
  return { url: urlOf(port), close: () => shutDown(port) }
}

/**
 * Starts a Redis. In a quick run on a machine without one, the services count on their own, and `quick.ts` leaves out the
 * tests that need it.
 */
async function startRedisIfInstalled() {
  if (process.env.QUICK_TESTS !== '1' || Bun.which('redis-server')) return startRedis()
  return { url: '', stop: async () => {} }
}

/**
 * Starts one real `mongod`, one `redis-server` and two service processes for the whole run. Tests are isolated by host
 * and key.
 */
export default async function setup(project: TestProject) {
  const temporary = await temporaryFolder()
  const dataDir = await dataFolder()
  const [mongod, redis] = await Promise.all([startMongod(dataDir), startRedisIfInstalled()])
  const environment = environmentOf(mongod.url, redis.url)
  const [one, other] = await Promise.all([startService(environment), startService(environment)])
  project.provide('mongodbUrl', mongod.url)
  project.provide('redisUrl', redis.url)
  project.provide('serviceUrls', [one.url, other.url])
  project.provide('temporaryFolder', temporary)
  return async () => {
    await Promise.all([one.stop(), other.stop()])
    await Promise.all([mongod.close(), redis.stop()])
    await rm(dataDir, { recursive: true, force: true })
    // A program that a test has just killed may still be writing.
    await rm(temporary, { recursive: true, force: true, maxRetries: 10 })
  }
}
