import { join } from 'node:path'
import { readConfig } from '../../src/core/config.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { type ServiceProcess, startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import { withDataDir } from './measure.ts'

/** A database and Redis for a benchmark, and the settings of a service that uses them. */
export interface BenchServers {
  settings: Record<string, string>
  db: Db
  /** The process id of the database server. */
  mongod: number
}

/** One service process on servers of its own. */
export interface BenchService extends BenchServers {
  service: ServiceProcess
}

/** Starts a database and Redis on loopback, and stops them after `work`. */
export function withServers<T>(work: (servers: BenchServers) => Promise<T>): Promise<T> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const { pid } = await Bun.file(join(dataDir, 'mongod.json')).json()
    const settings = {
      MONGODB_URL: mongod.url.replace('/?', '/partner?'),
      REDIS_URL: redis.url,
      LOG_LEVEL: 'fatal',
      WEBHOOKS_ALLOW_PRIVATE: 'on',
    }
    const { db, close } = await openDatabase(readConfig(settings))
    try {
      return await work({ settings, db, mongod: pid })
    } finally {
      await close()
      await Promise.all([redis.stop(), mongod.close()])
    }
  })
}

/** Starts a service, its database and Redis on loopback, and stops them after `work`. */
export function withService<T>(work: (started: BenchService) => Promise<T>): Promise<T> {
  return withServers(async (servers) => {
    const service = await startService(servers.settings)
    try {
      return await work({ ...servers, service })
    } finally {
      await service.stop()
    }
  })
}
