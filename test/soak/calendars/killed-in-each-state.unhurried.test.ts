import { afterAll, expect, test } from 'vitest'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { testApp, testEnvironment } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { startService } from '../../support/processes.ts'
import { startReplicaSet } from '../../support/replica-set.ts'

const replicas = await startReplicaSet(1, ['--setParameter', 'enableTestCommands=1'])
const db = await openMongo(replicas.url)
afterAll(async () => {
  await db.close()
  await replicas.stop()
})

interface Stop {
  command: string
  collection: string | null
  /** When the database begins to hold the command back: before the process starts, or once the file is asked for. */
  from: 'start' | 'request'
}

/** The commands at which the database holds a reading back until its process has been killed. */
const states: [name: string, stop: Stop | null][] = [
  ['before the fetch', { command: 'find', collection: 'listings', from: 'start' }],
  ['during the fetch', null],
  ['after parsing', { command: 'find', collection: 'calendars', from: 'request' }],
  ['within the transaction', { command: 'update', collection: 'calendars', from: 'request' }],
  ['while it commits', { command: 'commitTransaction', collection: null, from: 'request' }],
]

async function holdBack({ command, collection }: Stop): Promise<void> {
  const namespace = collection === null ? {} : { namespace: `${db.databaseName}.${collection}` }
  await db
    .getClient()
    .db('admin')
    .command({
      configureFailPoint: 'failCommand',
      mode: 'alwaysOn',
      data: { failCommands: [command], blockConnection: true, blockTimeMS: 4000, ...namespace },
    })
}

async function letGo(): Promise<void> {
  await db.getClient().db('admin').command({ configureFailPoint: 'failCommand', mode: 'off' })
}

test('a reading whose process is killed in any state is done again within 2 minutes, and has one effect', async () => {
  const environment = { MONGODB_URL: replicas.url, WEBHOOKS_ALLOW_PRIVATE: 'on', LOG_LEVEL: 'silent' }
  const observer = await testApp(environment)
  await observer.live.calendars.stop()
  const actor = await observer.actor()
  const file = calendarOf([[dayFromNow(5), dayFromNow(8)]])
  const calendars = db.collection('calendars')
  const victims: { name: string; roomId: number; killedAt: number }[] = []
  for (const [name, stop] of states) {
    const server = startCalendarServer((end) => afterAll(() => end().then(() => {})))
    const requested = Promise.withResolvers<void>()
    server.serve('/', async () => {
      if (stop?.from === 'request') await holdBack(stop)
      requested.resolve()
      if (stop === null) await Bun.sleep(3000)
      return new Response(file)
    })
    const { roomIds } = await listingWithCalendars(actor, [`${server.url}/`])
    const roomId = roomIds[0] as number
    const victim = await startService(testEnvironment(environment))
    if (stop?.from === 'start') {
      await holdBack(stop)
      await expect
        .poll(() => calendars.countDocuments({ room_id: roomId, claim: { $ne: null } }), { timeout: 60_000 })
        .toBe(1)
    } else {
      await requested.promise
    }
    await Bun.sleep(1000)
    const held = await calendars.findOne({ room_id: roomId })
    expect({ name, isClaimed: held?.claim !== null, blocks: held?.blocks.length }).toEqual({
      name,
      isClaimed: true,
      blocks: 0,
    })
    await victim.stop()
    const killedAt = Date.now()
    await letGo()
    server.serve('/', file)
    victims.push({ name, roomId, killedAt })
  }
  const survivor = await startService(testEnvironment(environment))
  try {
    for (const { name, roomId, killedAt } of victims) {
      const entry = `/v1/integrations/provider_one/calendars/${roomId}`
      const shown = async () => (await actor.send('GET', entry)).body.data.calendar
      await expect.poll(shown, { timeout: 200_000 }).toMatchObject({ status: 'ok', nights: 3 })
      const { blocks, read_at } = await shown()
      const stored = await calendars.findOne({ room_id: roomId })
      console.log(`Killed ${name}: read ${((Date.parse(read_at) - killedAt) / 1000).toFixed(0)} s later`)
      expect({ name, blocks: blocks.length, runs: stored?.nights.length }).toEqual({
        name,
        blocks: 1,
        runs: 1,
      })
      // The survivor looks at least every 30 s.
      expect(Date.parse(read_at)).toBeLessThan(killedAt + 150_000)
    }
  } finally {
    await survivor.stop()
  }
}, 600_000)
