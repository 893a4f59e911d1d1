import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { toVersion } from '../../../src/host-clock/format.ts'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { findBookingOfAnyHost } from '../../../src/stays/bookings/store.ts'
import { transitionBooking } from '../../../src/stays/bookings/transitions.ts'
import { type Actor, seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { feedPoller } from '../../support/feed-poller.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const service = await testApp()
const { db, clock } = service.live
const server = await startService(testEnvironment())
afterAll(() => server.stop())

const poller = (actor: Actor, baseUrl = server.url) => feedPoller(actor, baseUrl)

const versionsIn = (log: string) => log.trim().split('\n').filter(Boolean)

/** How often a poll is killed; the soak factor raises it. */
const kills = 9 * soakFactor

test(`a poll killed ${kills} times handles every change of a moving feed, and repeats only the one in progress`, async () => {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const { home, run, start } = await poller(actor)
  const log = join(home, 'log')
  await writeFile(log, '')
  const exec = `echo "$PARTNER_BOOKING_ID $PARTNER_VERSION" >> ${log}`
  const ids: number[] = []
  let isOver = false
  const writing = (async () => {
    const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
    while (!isOver) {
      const created = await actor.send('POST', '/v1/bookings', { body })
      ids.push(created.body.data.booking_id)
      const id = ids[Math.floor(Math.random() * ids.length)] as number
      await transitionBooking({ db, clock }, await findBookingOfAnyHost(db, id), {
        to: Math.random() < 0.5 ? 'confirmed' : 'cancelled',
      }).catch(() => {})
      await Bun.sleep(40)
    }
  })()
  for (let kill = 0; kill < kills; kill += 1) {
    const child = start('--interval', '0.05s', '--exec', exec)
    await Bun.sleep(150 + Math.random() * 300)
    child.kill('SIGKILL')
    await child.exited
  }
  isOver = true
  await writing
  expect((await run('--once', '--exec', exec)).code).toBe(0)
  const handled = versionsIn(await readFile(log, 'utf8'))
  const truth = await bookingModel(db).find({ owner_id: actor.hostId }).lean()
  const missing = truth.filter(({ id, updated_at }) => !handled.includes(`${id} ${toVersion(updated_at)}`))
  expect(missing).toEqual([])
  const repeats = handled.length - new Set(handled).size
  // A repeat directly follows the change it repeats, and no older change comes back.
  const outOfOrder = handled.filter(
    (line, index) =>
      index > 0 &&
      (line.split(' ', 2)[1] as string) + line.slice(-8) <
        (handled[index - 1]?.split(' ', 2)[1] as string) + handled[index - 1]?.slice(-8),
  )
  expect(outOfOrder).toEqual([])
  expect(repeats).toBeLessThanOrEqual(kills)
})

test('a poll that follows a service which holds no request pauses for 5 s, or for --interval', async () => {
  const holdsNone = await startService(testEnvironment({ MAX_HELD_REQUESTS: '0' }))
  onTestFinished(holdsNone.stop)
  /** Follows the feed, and returns the shortest pause between two of its first `reads` requests in milliseconds. */
  const shortestPause = async (reads: number, ...options: string[]) => {
    const actor = await service.actor()
    await seedBooking(actor)
    const child = (await poller(actor, holdsNone.url)).start('--follow', ...options)
    onTestFinished(() => child.kill('SIGKILL'))
    const arrivals = async (): Promise<number[]> => {
      const { data } = (await actor.send('GET', '/v1/requests?per_page=100')).body
      const ofFeed = data.filter(
        (one: { method: string; path: string }) => one.method === 'GET' && one.path.endsWith('/bookings'),
      )
      return ofFeed.map(({ at }: { at: string }) => Date.parse(at)).toSorted()
    }
    await expect.poll(async () => (await arrivals()).length, { interval: 1500 }).toBeGreaterThanOrEqual(reads)
    const times = await arrivals()
    // The second request follows the first page immediately. On a busy machine, individual pauses may be longer.
    return Math.min(...times.slice(2).map((time, index) => time - (times[index + 1] as number)))
  }
  const [withInterval, withNone, byDefault] = await Promise.all([
    shortestPause(5, '--interval', '1s'),
    shortestPause(5, '--interval', '0s'),
    shortestPause(3),
  ])
  expect(withInterval).toBeGreaterThanOrEqual(1000)
  expect(withInterval).toBeLessThan(4000)
  expect(withNone).toBeGreaterThanOrEqual(1000)
  expect(byDefault).toBeGreaterThanOrEqual(5000)
  expect(byDefault).toBeLessThan(20_000)
})

test('a poll ends with its last change, even if the service never says which version it has', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const unanswered = Promise.withResolvers<Response>()
  let lastAnswer = 0
  const withoutVersion = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname.startsWith('/npm/')) return unanswered.promise
      const response = await fetch(`${server.url}${pathname}${search}`, { headers: request.headers })
      lastAnswer = performance.now()
      return response
    },
  })
  onTestFinished(() => withoutVersion.stop(true))
  const { run } = await poller(actor, withoutVersion.url.origin)
  const { code, stdout } = await run('--once', '--output', 'ndjson')
  const secondsAfterLastAnswer = (performance.now() - lastAnswer) / 1000
  expect({ code, changes: versionsIn(stdout).length }).toEqual({ code: 0, changes: 1 })
  expect(secondsAfterLastAnswer).toBeLessThan(3)
})
