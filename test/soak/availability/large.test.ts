import { expect, test } from 'vitest'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { largeHost, rowsOf } from '../../support/availability.ts'
import { startService } from '../../support/processes.ts'
import { controlOf, millisecondsOf } from '../../support/soak.ts'

const service = await testApp()
const { db } = service.live
const path = '/v1/integrations/provider_one/availability'
/** The first of the listing ids that only this test file uses. */
const firstListing = 8_000_000

const owner = await service.actor()
const pairs = await largeHost(db, owner, firstListing)

test('GET availability of 146,000 rows does not keep other requests waiting', async () => {
  const process = await startService(testEnvironment())
  try {
    const send = sender(fetch, process.url)
    await send('GET', `${path}?per_page=1`, { key: owner.key })
    let isDone = false
    const large = send('GET', `${path}?per_page=500`, { key: owner.key }).finally(() => {
      isDone = true
    })
    const control = await controlOf(() => send('GET', '/v1/me', { key: owner.key }))
    let slowest = 0
    while (!isDone) {
      const me = () => send('GET', '/v1/me', { key: owner.key })
      slowest = Math.max(slowest, await millisecondsOf(async () => expect((await me()).status).toBe(200)))
    }
    const { status, body } = await large
    expect(status).toBe(200)
    expect(rowsOf(body.data.availabilities).length).toBeGreaterThan(140_000)
    expect(Object.keys(body.meta)).toEqual(['request_id', 'pagination'])
    expect(slowest / control).toBeLessThan(100)
  } finally {
    await process.stop()
  }
})

test('concurrent bookings, writes and compactions over two processes never oversell', async () => {
  const processes = await Promise.all([startService(testEnvironment()), startService(testEnvironment())])
  try {
    const user = await owner.send('POST', '/v1/users', {
      body: { email: 'u@example.com', first_name: 'A', last_name: 'B' },
    })
    const pair = pairs[1] as (typeof pairs)[number]
    const other = { ...pair, available: 1, start_date: '2028-01-01', end_date: '2028-01-01' }
    const units = 7
    const set = { ...pair, available: units, start_date: '2027-09-01', end_date: '2027-09-30' }
    await owner.send('POST', path, { body: { data: [set] } })
    const stay = { checkin_at: '2027-09-05', checkout_at: '2027-09-20' }
    const body = { ...pair, ...stay, user_id: user.body.data.user_id }
    const over = (index: number) => sender(fetch, processes[index % 2]?.url)
    const responses = await Promise.all([
      ...Array.from({ length: 40 }, (_, index) =>
        over(index)('POST', '/v1/bookings', { key: owner.key, body }),
      ),
      ...Array.from({ length: 10 }, (_, index) =>
        over(index)('POST', path, {
          key: owner.key,
          body: { data: Array.from({ length: 120 }, () => other) },
        }),
      ),
    ])
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(units)
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(await bookingModel(db).countDocuments({ owner_id: owner.hostId })).toBe(units)
  } finally {
    await Promise.all(processes.map((process) => process.stop()))
  }
})
