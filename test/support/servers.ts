import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openEmbeddedMongod } from '../../src/platform/mongo/embedded.ts'
import { startRedis } from './redis.ts'

declare module 'vitest' {
  interface ProvidedContext {
    mongodbUrl: string
    redisUrl: string
  }
}

/** One real `mongod` and one real `redis-server` for the whole run; host and key keep the tests apart. */
export default async function setup(project: TestProject) {
  const dataDir = await mkdtemp(join(tmpdir(), 'partner-test-'))
  const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
  project.provide('mongodbUrl', mongod.url)
  project.provide('redisUrl', redis.url)
  return async () => {
    await Promise.all([mongod.close(), redis.stop()])
    await rm(dataDir, { recursive: true, force: true })
  }
}
