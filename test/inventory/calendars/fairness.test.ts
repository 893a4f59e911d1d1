import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Actor, testApp } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'

const service = await testApp({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' })
const calendars = '/v1/integrations/provider_one/calendars'

const statusOf = async (actor: Pick<Actor, 'send'>, roomId: number | undefined) =>
  (await actor.send('GET', `${calendars}/${roomId}`)).body.data.calendar.status

/** Starts a server that accepts connections and never responds. Resolves with its port. */
async function silentServer(): Promise<{ port: number; connections: () => number }> {
  const connections: Socket[] = []
  const server = createServer((socket) => void connections.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    // Otherwise, the readings would last until they are given up, and the service would wait for them to close.
    for (const socket of connections) socket.destroy()
  })
  return { port: (server.address() as { port: number }).port, connections: () => connections.length }
}

test('calendars at silent servers do not keep those of another host from being read', async () => {
  const slow = await service.actor()
  const quick = await service.actor()
  const silent = await Promise.all([silentServer(), silentServer(), silentServer()])
  const urls = silent.flatMap(({ port }) => [1, 2, 3].map((path) => `http://127.0.0.1:${port}/${path}`))
  await listingWithCalendars(slow, urls)
  const connected = () => silent.reduce((sum, { connections }) => sum + connections(), 0)
  await expect.poll(connected).toBe(2)
  const server = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
  server.serve('/quick', calendarOf([[dayFromNow(1), dayFromNow(2)]]))
  const { roomIds } = await listingWithCalendars(quick, [`${server.url}/quick`])
  await expect.poll(() => statusOf(quick, roomIds[0])).toBe('ok')
  expect(connected()).toBe(2)
})

/** A file of more than 256 KiB whose rules take a while. */
const longFile = [
  'BEGIN:VCALENDAR',
  ...Array.from({ length: 1000 }, (_, index) => [
    'BEGIN:VEVENT',
    `UID:${index}`,
    `DESCRIPTION:${'A guest. '.repeat(30)}`,
    'DTSTART;VALUE=DATE:20260101',
    'RRULE:FREQ=DAILY;BYMONTH=2',
    'END:VEVENT',
  ]).flat(),
  'END:VCALENDAR',
].join('\r\n')

test("a host's files are checked one after another, so that those of others need not wait for all of them", async () => {
  const one = await service.actor()
  const other = await service.actor()
  const check = (actor: Actor, text: string) => actor.send('POST', `${calendars}/check`, { body: { text } })
  const order: string[] = []
  const noted = (name: string, response: Promise<{ status: number }>) =>
    response.then(({ status }) => {
      if (status === 200) order.push(name)
      return status
    })
  const own = Array.from({ length: 6 }, (_, index) => noted(`own ${index}`, check(one, longFile)))
  // So that the host's own come first.
  await expect.poll(() => order.length).toBeGreaterThan(0)
  const before = order.length
  const foreign = noted('foreign', check(other, longFile))
  const statuses = await Promise.all([...own, foreign])
  expect(order).toContain('foreign')
  expect(order.indexOf('foreign') - before).toBeLessThan(2)
  // On a slow machine, some of the host's own do not get their turn in time.
  for (const status of statuses) expect([200, 409]).toContain(status)
}, 60_000)

test('a room type has at most 20,000 blocks; the calendar that would exceed them fails, and the nights stay countable', async () => {
  const actor = await service.actor()
  const server = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
  const many = Array.from({ length: 2000 }, (_, index): [string, string] => {
    const first = 1 + (index % 1000)
    return [dayFromNow(first), dayFromNow(first + 1 + Math.floor(index / 1000))]
  })
  const paths = Array.from({ length: 11 }, (_, index) => `/${index}`)
  for (const path of paths) server.serve(path, calendarOf(many))
  const { listing_id, roomIds } = await listingWithCalendars(
    actor,
    paths.map((path) => server.url + path),
  )
  const entries = async () =>
    (await actor.send('GET', `${calendars}?listing_id=${listing_id}`)).body.data.calendars
  await expect
    .poll(async () => (await entries()).map(({ status }: { status: string }) => status))
    .not.toContain('waiting')
  const failing = (await entries()).filter(({ status }: { status: string }) => status === 'failing')
  expect(failing).toMatchObject([{ error: 'too_large', response_status: 200, nights: 0 }])
  const [shown] = roomIds
  expect((await actor.send('GET', `${calendars}/${shown}`)).body.data.calendar.blocks).toHaveLength(2000)
}, 60_000)

test('of the calendars that a host asks to be read, a process reads two at a time', async () => {
  const actor = await service.actor()
  const server = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
  let inProgress = 0
  let most = 0
  const paths = ['/0', '/1', '/2', '/3', '/4']
  for (const path of paths)
    server.serve(path, async () => {
      inProgress += 1
      most = Math.max(most, inProgress)
      await Bun.sleep(200)
      inProgress -= 1
      return new Response(calendarOf([]))
    })
  const urls = paths.map((path) => server.url + path)
  const { roomIds } = await listingWithCalendars(actor, urls, '/sandbox')
  const reads = roomIds.map((id) =>
    actor.send('POST', `/sandbox/integrations/provider_one/calendars/${id}/read`, { repeatWhileBusy: true }),
  )
  for (const { status } of await Promise.all(reads)) expect(status).toBe(200)
  expect(most).toBe(2)
})
