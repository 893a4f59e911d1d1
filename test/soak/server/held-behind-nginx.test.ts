import { expect, onTestFinished, test } from 'vitest'
import { seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { seriesOf } from '../../support/metrics.ts'
import { type RunningNginx, startNginx } from '../../support/nginx.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { openRaw, rawHead } from '../../support/raw-connection.ts'

const METRICS_TOKEN = 'a token for this test'
const observer = await testApp()

/** Keeps one poll held until the test is over: it is renewed when it ends, and when it may try again after a refusal. */
async function keepPolling(proxy: RunningNginx, key: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const connection = await openRaw(proxy.url)
    onTestFinished(() => connection.close())
    await connection.send(
      rawHead('GET /v1/integrations/provider_one/bookings?wait=30', ['Connection: close'], key),
    )
    while (!connection.isClosed() && !isOver()) await Bun.sleep(50)
    const retryAfter = /^retry-after: (\d+)/im.exec(connection.received())?.[1]
    connection.close()
    if (retryAfter && !isOver()) await Bun.sleep(Number(retryAfter) * 1000)
  }
}

/** Creates 100 bookings through the proxy, one after the other; returns their statuses and the times' 95th percentile. */
async function bookHundred(proxy: RunningNginx, key: string, stay: object) {
  const send = sender(proxy.fetch, proxy.url)
  const statuses: Record<number, number> = {}
  const milliseconds: number[] = []
  for (let count = 0; count < 100; count += 1) {
    const start = performance.now()
    const { status } = await send('POST', '/v1/bookings', { key, body: stay })
    milliseconds.push(performance.now() - start)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  milliseconds.sort((one, other) => one - other)
  return { statuses, p95: Math.round(milliseconds[94] ?? Number.NaN) }
}

async function heldBy({ url }: ServiceProcess): Promise<number> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const { text } = await sender(fetch, url)('GET', '/metrics', { headers })
  return seriesOf(text).get('held_requests') ?? Number.NaN
}

test('300 held polls of one address leave 100 bookings of another key from there alone, as if there were none', async () => {
  const settings = { ...testEnvironment({ TRUSTED_PROXIES: '127.0.0.1' }), METRICS_TOKEN }
  const services = await Promise.all([1, 2].map(() => startService(settings)))
  const proxy = await startNginx(services.map(({ url }) => Number(new URL(url).port)))
  onTestFinished(() =>
    Promise.all([proxy.stop(), ...services.map((service) => service.stop())]).then(() => {}),
  )
  const booker = await observer.actor()
  const pollers = await Promise.all(Array.from({ length: 60 }, () => observer.actor()))
  const { user_id, listing_id, room_type_id } = await seedBooking(booker)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const before = await bookHundred(proxy, booker.key, stay)

  let isOver = false
  const polls = pollers.flatMap(({ key }) => Array.from({ length: 5 }, () => key))
  const polling = Promise.all(polls.map((key) => keepPolling(proxy, key, () => isOver)))
  const held = async () => (await Promise.all(services.map(heldBy))).reduce((sum, count) => sum + count, 0)
  await expect.poll(held, { interval: 150 }).toBe(256)
  const during = await bookHundred(proxy, booker.key, stay)
  isOver = true
  await polling

  console.info({ before, during })
  expect({ before: before.statuses, during: during.statuses }).toEqual({
    before: { 201: 100 },
    during: { 201: 100 },
  })
  const refused = (await proxy.logged()).filter(({ refused_by }) => refused_by !== '')
  expect(refused.length).toBeGreaterThanOrEqual(polls.length - 256)
  expect(new Set(refused.map(({ refused_by }) => refused_by))).toEqual(new Set(['held_polls']))
})
