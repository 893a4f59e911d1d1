import { expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'

/** Less than the 20 s for which a reading waits for a server. */
const soonMilliseconds = 12_000

test.for([
  ['of six hosts at one server', 6, 1],
  ['of one host at six servers', 1, 6],
] as const)(
  '24 calendars %s without a response keep nobody else waiting',
  async ([, hosts, servers], { onTestFinished }) => {
    const environment = {
      MONGODB_URL: await ownDatabase(),
      WEBHOOKS_ALLOW_PRIVATE: 'on',
      LOG_LEVEL: 'silent',
    }
    const service = await testApp(environment)
    const silent = Array.from({ length: servers }, () => {
      const server = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
      server.serve('/', () => Bun.sleep(60_000).then(() => new Response()))
      return server
    })
    const perHost = 24 / hosts
    for (let host = 0; host < hosts; host += 1) {
      const urls = Array.from({ length: perHost }, (_, index) => `${silent[index % servers]?.url}/`)
      await listingWithCalendars(await service.actor(), urls)
    }
    const requests = () => silent.reduce((sum, { requests: made }) => sum + made.length, 0)
    await expect.poll(requests, { timeout: 10_000 }).toBe(2)
    const healthy = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
    healthy.serve('/', calendarOf([[dayFromNow(5), dayFromNow(8)]]))
    const other = await service.actor()
    const start = performance.now()
    await listingWithCalendars(other, Array<string>(6).fill(`${healthy.url}/`))
    const countRead = async () => {
      const { body } = await other.send('GET', '/v1/integrations/provider_one/calendars?status=ok')
      return body.data.calendars.length
    }
    await expect.poll(countRead, { timeout: 60_000, interval: 200 }).toBe(6)
    const milliseconds = performance.now() - start
    console.log(
      `Read after ${(milliseconds / 1000).toFixed(1)} s, during ${requests()} requests without a response`,
    )
    expect(milliseconds).toBeLessThan(soonMilliseconds)
  },
)
