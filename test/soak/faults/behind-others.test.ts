import { expect, test } from 'vitest'
import { seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { httpFeed, Poller, truthOf } from '../../support/history.ts'
import { KeyedLoad } from '../../support/keyed-load.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const kills = 2 * soakFactor
const observer = await testApp()

test(`partners of three processes, one of which is killed ${kills} times under load, continue with the others and lose nothing`, async () => {
  const actor = await observer.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-02-01' }
  const environment = { ...testEnvironment(), LOG_LEVEL: 'silent' }
  const living = await Promise.all([1, 2, 3].map(() => startService(environment)))
  let turn = 0
  // Clients do not notice that a process died, so they keep sending it every third request.
  const nextUrl = () => {
    turn += 1
    return living[turn % living.length]?.url as string
  }
  const load = new KeyedLoad(nextUrl, actor.key, body)
  const poller = new Poller('behind three', httpFeed(nextUrl, actor.key), { perPage: 20, byCursor: true })
  for (let kill = 0; kill < kills; kill += 1) {
    await Bun.sleep(300)
    const place = kill % living.length
    await living[place]?.end('SIGKILL')
    await load.resumption(10_000)
    await poller.poll()
    living[place] = await startService(environment)
  }
  await load.stop()
  await poller.poll()
  for (const service of living) expect(await service.end('SIGTERM')).toBe(0)

  const truth = await truthOf(observer.live.db, actor.hostId)
  const lost = [...load.acknowledged.values()].filter((id) => !truth.has(id))
  expect(lost).toEqual([])
  expect(truth.size).toBe(load.acknowledged.size + 1)
  expect({ losses: poller.losses(truth), complaints: poller.complaints }).toEqual({
    losses: [],
    complaints: [],
  })
  expect(Object.keys(load.failures)).toEqual(['no response'])
})
