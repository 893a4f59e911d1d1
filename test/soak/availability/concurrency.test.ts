import { afterAll, expect, inject, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { overlayRows } from '../../../src/inventory/availability/overlay.ts'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { type Actor, sender, testApp, testEnvironment } from '../../support/app.ts'
import { storedRows } from '../../support/availability.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const service = await testApp()
const { db } = service.live
const path = '/v1/integrations/provider_one/availability'
const environment = { ...testEnvironment(), MONGODB_URL: inject('mongodbUrl') }
const processes: ServiceProcess[] = await Promise.all([startService(environment), startService(environment)])
afterAll(() => Promise.all(processes.map((process) => process.stop())))

const over = (index: number) => sender(fetch, processes[index % 2]?.url)

/** Creates listings with one room type each. */
async function portfolio(owner: Actor, count: number) {
  const pairs: { listing_id: number; room_type_id: number }[] = []
  for (let index = 0; index < count; index += 1) {
    const { body } = await owner.send('POST', '/v1/listings', {
      body: { name: `L${index}`, room_types: [{ name: 'T' }] },
    })
    const read = await owner.send('GET', `/v1/listings/${body.data.id}`)
    pairs.push({ listing_id: body.data.id, room_type_id: read.body.data.room_types[0].id })
  }
  return pairs
}

/** Returns a body of 1,000 items, each for one day of one pair, all with the same number of units. */
function bulk(pairs: { listing_id: number; room_type_id: number }[], available: number) {
  return {
    data: Array.from({ length: 1000 }, (_, index) => {
      const date = addDays('2027-01-01', Math.floor(index / pairs.length))
      return { ...pairs[index % pairs.length], available, start_date: date, end_date: date }
    }),
  }
}

/** Counts a host's rows in force, grouped by their number of units. */
async function unitsOf(hostId: number): Promise<Record<string, number>> {
  const written = await storedRows(db, { owner_id: hostId })
  const byRoomType = Map.groupBy(written, ({ room_type_id }) => room_type_id)
  const units = [...byRoomType.values()].flatMap((rows) =>
    overlayRows(rows).map(({ available }) => String(available)),
  )
  return Object.fromEntries(
    Object.entries(Object.groupBy(units, (unit) => unit)).map(([unit, all]) => [unit, all?.length ?? 0]),
  )
}

test('exactly three of fifty concurrent bookings of three units over two processes succeed, in six rounds', async () => {
  for (let round = 0; round < 4 * soakFactor; round += 1) {
    const owner = await service.actor()
    const [pair] = await portfolio(owner, 1)
    const user = await owner.send('POST', '/v1/users', {
      body: { email: 'u@example.com', first_name: 'A', last_name: 'B' },
    })
    await owner.send('POST', path, {
      body: { data: [{ ...pair, available: 3, start_date: '2027-01-01', end_date: '2027-12-31' }] },
    })
    const body = {
      ...pair,
      user_id: user.body.data.user_id,
      checkin_at: '2027-02-01',
      checkout_at: '2027-02-20',
    }
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => over(index)('POST', '/v1/bookings', { key: owner.key, body })),
    )
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3)
    const refused = responses.filter(({ status }) => status === 422)
    expect(refused).toHaveLength(47)
    expect(refused.every(({ body: { error } }) => error.errors[0].code === 'unavailable')).toBe(true)
    expect(await bookingModel(db).countDocuments({ owner_id: owner.hostId })).toBe(3)
  }
})

test('two concurrent bulk writes of 1,000 items to the same room types end as if made one after the other', async () => {
  const owner = await service.actor()
  const pairs = await portfolio(owner, 50)
  for (let round = 0; round < 5; round += 1) {
    const responses = await Promise.all(
      [1, 2].map((available) =>
        over(available)('POST', path, { key: owner.key, body: bulk(pairs, available) }),
      ),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    const units = await unitsOf(owner.hostId)
    expect([{ 1: 1000 }, { 2: 1000 }]).toContainEqual(units)
  }
})

test('kill -9 in the middle of a bulk write leaves all of it or nothing, in six rounds', async () => {
  const owner = await service.actor()
  const pairs = await portfolio(owner, 50)
  let acknowledged = 0
  await owner.send('POST', path, { body: bulk(pairs, acknowledged) })
  for (let attempt = 1; attempt <= 3 * soakFactor; attempt += 1) {
    const victim = await startService(environment)
    const request = sender(fetch, victim.url)('POST', path, {
      key: owner.key,
      body: bulk(pairs, attempt),
    }).then(
      ({ status }) => status,
      () => 0,
    )
    await Bun.sleep(attempt * 30)
    await victim.end('SIGKILL')
    const isAcknowledged = (await request) === 200
    const units = await unitsOf(owner.hostId)
    expect(Object.values(units)).toEqual([1000])
    const [now] = Object.keys(units).map(Number) as [number]
    expect(isAcknowledged ? [attempt] : [acknowledged, attempt]).toContain(now)
    acknowledged = now
  }
})
