import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Redis } from 'ioredis'
import type { Burst, Target } from './load.ts'
import { atMost, medianMilliseconds, type Row } from './measure.ts'
import type { BenchServers } from './servers.ts'

/** The cost of checking a response against its schema, as a share of the request's CPU time. */
export async function responseValidation(
  { url, init }: Target,
  request: Burst,
  schema: TSchema,
): Promise<Row> {
  const response = await (await fetch(url, init)).json()
  const validator = TypeCompiler.Compile(schema)
  const checks = 2000
  const check = async () => {
    for (let count = 0; count < checks; count += 1) {
      if (!validator.Check(response)) throw new Error('The response does not match its schema')
    }
  }
  const microseconds = ((await medianMilliseconds({ check }, 9)).check / checks) * 1000
  return atMost(
    'response validation as a share of a feed page',
    microseconds / request.cpuMicroseconds,
    0.1,
    `${microseconds.toFixed(1)} µs of ${Math.round(request.cpuMicroseconds)} µs CPU`,
  )
}

/** How often one warm `GET /v1/me` goes to Redis and to the database. */
export async function databaseAndRedis({ db, redis, creator }: BenchServers): Promise<Row[]> {
  const requests = 1000
  const client = new Redis(redis.url)
  const monitor = await client.monitor()
  let trips = 0
  // What a script calls is shown as coming from "lua"; the probes of the services are pings.
  monitor.on('monitor', (_time: string, [command = '']: string[], source: string) => {
    if (source !== 'lua' && !/^(ping|info|monitor)$/i.test(command)) trips += 1
  })
  await db.db?.command({ profile: 2 })
  for (let count = 0; count < requests; count += 1) await creator.send('GET', '/v1/me')
  await db.db?.command({ profile: 0 })
  const profile = db.collection('system.profile')
  // The usage of a key is written every two seconds, its record read every five, however many requests there are.
  const operations = await profile.countDocuments({ ns: /\.(api_keys|hosts|usage)/ })
  await Bun.sleep(200)
  monitor.disconnect()
  client.disconnect()
  return [
    atMost('Redis round trips of a GET /v1/me', trips / requests, 1, `${trips} in ${requests} requests`),
    atMost(
      'database operations of a GET /v1/me',
      operations / requests,
      0.01,
      `${operations} in ${requests} requests, at intervals and not per request`,
    ),
  ]
}
