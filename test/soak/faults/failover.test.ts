import { afterAll, expect, test } from 'vitest'
import { seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { httpFeed, Poller, truthOf } from '../../support/history.ts'
import { KeyedLoad } from '../../support/keyed-load.ts'
import { startNginx } from '../../support/nginx.ts'
import { startService } from '../../support/processes.ts'
import { startReplicaSet } from '../../support/replica-set.ts'
import { soakFactor } from '../../support/soak.ts'

const kills = 1 * soakFactor
const electionLimitMilliseconds = 20_000
const frozenLimitMilliseconds = 30_000

const replicas = await startReplicaSet()
afterAll(() => replicas.stop())
const environment = { MONGODB_URL: replicas.url, LOG_LEVEL: 'silent' }
const observer = await testApp(environment)

test(`three processes behind nginx whose primary is killed under load (${kills} ×) and frozen once lose no acknowledged write, repeat none and hide no change from a poller`, async () => {
  const actor = await observer.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-02-01' }
  const services = await Promise.all([1, 2, 3].map(() => startService(testEnvironment(environment))))
  const proxy = await startNginx(services.map(({ url }) => Number(new URL(url).port)))
  const load = new KeyedLoad(() => proxy.url, actor.key, body, { send: proxy.fetch })
  const feed = httpFeed(() => proxy.url, actor.key, 'bookings', proxy.fetch)
  const pollers = [
    new Poller('during elections', feed, { perPage: 20, byCursor: false }),
    new Poller('waiting during elections', feed, { perPage: 20, byCursor: false, wait: 3 }),
  ]
  let isOver = false
  const polling = Promise.all(
    pollers.map(async (poller) => {
      while (!isOver) {
        await poller.poll()
        await Bun.sleep(50)
      }
    }),
  )

  for (let kill = 0; kill < kills; kill += 1) {
    await Bun.sleep(500)
    const revive = await replicas.killPrimary()
    await load.resumption(electionLimitMilliseconds)
    await revive()
  }
  const thaw = await replicas.freezePrimary()
  await load.resumption(frozenLimitMilliseconds)
  await thaw()
  await load.stop()
  isOver = true
  await polling
  await Promise.all(pollers.map((poller) => poller.poll()))
  await proxy.stop()
  expect(await Promise.all(services.map((service) => service.end('SIGTERM')))).toEqual([0, 0, 0])

  const truth = await truthOf(observer.live.db, actor.hostId)
  const lost = [...load.acknowledged.values()].filter((id) => !truth.has(id))
  expect(lost).toEqual([])
  expect(truth.size).toBe(load.acknowledged.size + 1)
  for (const poller of pollers)
    expect({
      name: poller.name,
      losses: poller.losses(truth),
      complaints: poller.complaints,
    }).toEqual({ name: poller.name, losses: [], complaints: [] })
})
