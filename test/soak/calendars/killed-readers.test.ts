import { afterAll, expect, test } from 'vitest'
import { testApp, testEnvironment } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startService } from '../../support/processes.ts'

/** When a process is killed, in milliseconds after its request for a file; null before the file is sent. */
const moments = [null, 0, 2, 5, 10, 20, 40, 80]

test('wherever a reading process is killed, its calendars are read by another within 2 minutes, and nothing is half written', async () => {
  const MONGODB_URL = await ownDatabase()
  const settings = { ...testEnvironment({ MONGODB_URL, WEBHOOKS_ALLOW_PRIVATE: 'on' }), LOG_LEVEL: 'silent' }
  const observer = await testApp({ MONGODB_URL, WEBHOOKS_ALLOW_PRIVATE: 'on', LOG_LEVEL: 'silent' })
  // Only the victims read.
  await observer.live.calendars.stop()
  const actor = await observer.actor()
  const victims: { entry: string; killedAt: number }[] = []
  for (const moment of moments) {
    const server = startCalendarServer((stop) => afterAll(() => stop().then(() => {})))
    const requested = Promise.withResolvers<void>()
    const file = calendarOf([[dayFromNow(5), dayFromNow(8)]])
    server.serve('/', async () => {
      requested.resolve()
      if (moment === null) await Bun.sleep(5000)
      return new Response(file)
    })
    const { roomIds } = await listingWithCalendars(actor, [`${server.url}/`])
    const victim = await startService(settings)
    await requested.promise
    if (moment !== null) await Bun.sleep(moment)
    await victim.stop()
    server.serve('/', file)
    victims.push({ entry: `/v1/integrations/provider_one/calendars/${roomIds[0]}`, killedAt: Date.now() })
  }
  const survivor = await startService(settings)
  try {
    for (const { entry, killedAt } of victims) {
      const shown = async () => (await actor.send('GET', entry)).body.data.calendar
      await expect.poll(shown, { timeout: 200_000 }).toMatchObject({ status: 'ok', nights: 3 })
      const { read_at, blocks } = await shown()
      expect(blocks).toHaveLength(1)
      // The survivor looks at least every 30 s.
      expect(Date.parse(read_at)).toBeLessThan(killedAt + 150_000)
    }
  } finally {
    await survivor.stop()
  }
}, 600_000)
