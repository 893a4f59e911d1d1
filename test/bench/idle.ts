import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import { cpuSeconds, residentMebibytes } from './load.ts'
import { medianMilliseconds, withDataDir } from './measure.ts'
import { atMost, type Row } from './table.ts'

/** A checkout of the release before, whose service is measured beside this one. */
const oldCheckout = process.env.OLD

const root = fileURLToPath(new URL('../..', import.meta.url))
const settleMilliseconds = 10_000
const measuredSeconds = Number(process.env.SECONDS ?? 60)

/**
 * Measures the cost of an idle service and of its database, and the duration of an administrator's command. If `OLD`
 * names a checkout of the release before, measures only both services beside each other.
 */
export function idle(): Promise<Row[]> {
  return oldCheckout === undefined ? measureAlone() : measurePair(oldCheckout)
}

/**
 * Starts the services of two releases on the same servers, each with a database of its own, and measures both at the
 * same time, so that what else the machine does affects them equally.
 */
function measurePair(old: string): Promise<Row[]> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const start = (name: string, main?: string) => {
      const MONGODB_URL = mongod.url.replace('/?', `/${name}?`)
      return startService({ MONGODB_URL, REDIS_URL: redis.url, LOG_LEVEL: 'fatal' }, [], main)
    }
    const services = [await start('new'), await start('old', join(old, 'src/main.ts'))]
    try {
      const pids = services.map(({ pid }) => pid)
      const [ofNew = 0, ofOld = 1] = await Promise.all(pids.map((pid) => cpuWhile([pid])))
      const [newMemory = 0, oldMemory = 1] = await Promise.all(pids.map((pid) => residentMebibytes([pid])))
      const percent = (seconds: number) => ((100 * seconds) / measuredSeconds).toFixed(2)
      return [
        atMost({
          work: `idle for ${measuredSeconds} s: CPU, ${percent(ofNew)} % of a core`,
          ratio: ofNew / ofOld,
          limit: 0.5,
          of: `of the release before, ${percent(ofOld)} %`,
        }),
        atMost({
          work: `idle for ${measuredSeconds} s: memory, ${newMemory.toFixed(0)} MiB`,
          ratio: newMemory / oldMemory,
          limit: 0.75,
          of: `of the release before, ${oldMemory.toFixed(0)} MiB`,
        }),
      ]
    } finally {
      await Promise.all(services.map((service) => service.stop()))
      await Promise.all([mongod.close(), redis.stop()])
    }
  })
}

function measureAlone(): Promise<Row[]> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const { pid } = await Bun.file(join(dataDir, 'mongod.json')).json()
    const database = await cpuWhile([pid])
    const service = await startService({
      MONGODB_URL: mongod.url.replace('/?', '/partner?'),
      REDIS_URL: redis.url,
      LOG_LEVEL: 'fatal',
    })
    const memory = await residentMebibytes([service.pid])
    const ofService = await cpuWhile([service.pid])
    const ofBoth = await cpuWhile([pid])
    await service.stop()
    const command = await commandTimes(mongod.url.replace('/?', '/partner?'))
    await Promise.all([mongod.close(), redis.stop()])
    const percent = (seconds: number) => (100 * seconds) / measuredSeconds
    return [
      atMost({
        work: 'idle: CPU of the service',
        ratio: percent(ofService),
        limit: 0.5,
        of: '% of a core',
      }),
      atMost({
        work: 'idle: CPU of the database for it',
        ratio: percent(ofBoth - database),
        limit: 1,
        of: '% of a core',
      }),
      atMost({
        work: 'idle: memory of the service',
        ratio: memory,
        limit: 120,
        of: 'MiB',
      }),
      atMost({
        work: 'keys list, from start to end',
        ratio: command.list / command.ping,
        limit: 2,
        of: 'a ping by the driver alone',
      }),
    ]
  })
}

/** Returns the milliseconds that an administrator's command and a program that only pings the database take. */
function commandTimes(MONGODB_URL: string) {
  const run = (...command: string[]) =>
    Bun.$`${command}`
      .env({ ...process.env, MONGODB_URL, LOG_LEVEL: 'fatal' })
      .cwd(root)
      .quiet()
  const ping = `const { MongoClient } = await import('mongodb'); const client = new MongoClient('${MONGODB_URL}')
    await client.db('admin').command({ ping: 1 }); await client.close()`
  return medianMilliseconds(
    { ping: () => run('bin/bun', '-e', ping), list: () => run('bin/partnerctl', 'keys', 'list', '--json') },
    9,
  )
}

async function cpuWhile(pids: number[]): Promise<number> {
  await Bun.sleep(settleMilliseconds)
  const before = await cpuSeconds(pids)
  await Bun.sleep(measuredSeconds * 1000)
  return (await cpuSeconds(pids)) - before
}
