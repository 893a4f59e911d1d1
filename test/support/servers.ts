import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import type { TestProject } from 'vitest/node'
import { openEmbeddedMongod } from '../../src/platform/mongo/embedded.ts'
import { environmentOf } from './environment.ts'
import { startService } from './processes.ts'
import { startRedis } from './redis.ts'

declare module 'vitest' {
  interface ProvidedContext {
    mongodbUrl: string
    redisUrl: string
    /** Two processes of the service with the settings of `testEnvironment()`, for tests that need another process. */
    serviceUrls: [string, string]
  }
}

const pauseMilliseconds = 2000

/**
 * Each database adds hundreds of entries to one page of the server's catalogue, which only a checkpoint can split. With one
 * a minute, which is what the server does by itself, it grows so large that the next checkpoint takes minutes, in which
 * no collection is created or dropped.
 */
async function checkpointOften(url: string) {
  const connection = await mongoose.createConnection(url).asPromise()
  const admin = connection.getClient().db('admin')
  // Nobody diagnoses the server of a run.
  await admin.command({ setParameter: 1, diagnosticDataCollectionEnabled: false })
  let isOver = false
  const working = (async () => {
    while (!isOver) {
      // Without `async` it waits for every open transaction, and everything else waits for it.
      await admin.command({ fsync: 1, async: true })
      await Bun.sleep(pauseMilliseconds)
    }
  })()
  return {
    async end() {
      isOver = true
      await working
      await connection.close()
    },
  }
}

/** One real `mongod`, one `redis-server` and two processes for the whole run; host and key keep the tests apart. */
export default async function setup(project: TestProject) {
  const dataDir = await mkdtemp(join(tmpdir(), 'partner-test-'))
  const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
  const checkpoints = await checkpointOften(mongod.url)
  const environment = environmentOf(mongod.url, redis.url)
  const [one, other] = await Promise.all([startService(environment), startService(environment)])
  project.provide('mongodbUrl', mongod.url)
  project.provide('redisUrl', redis.url)
  project.provide('serviceUrls', [one.url, other.url])
  return async () => {
    await Promise.all([one.stop(), other.stop(), checkpoints.end()])
    await Promise.all([mongod.close(), redis.stop()])
    await rm(dataDir, { recursive: true, force: true })
  }
}
