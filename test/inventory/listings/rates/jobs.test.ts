import { expect, test } from 'vitest'
import { type Actor, testApp } from '../../../support/app.ts'
import { ownDatabase } from '../../../support/databases.ts'

const url = await ownDatabase()
let offset = 0
const service = await testApp({ MONGODB_URL: url }, () => new Date(Date.now() + offset))
const { db } = service.live
const path = '/v1/integrations/provider_one/rates'

/** Creates a host with a listing of two room types. */
async function partner() {
  const actor = await service.actor()
  const room_types = [
    { name: 'One', prices: { base_price: 1 } },
    { name: 'Two', prices: { base_price: 2 } },
  ]
  const { body } = await actor.send('POST', '/v1/listings', { body: { name: 'L', room_types } })
  const listing_id = body.data.id as number
  const read = async () => (await actor.send('GET', `/v1/listings/${listing_id}`)).body.data
  const ids = (await read()).room_types.map(({ id }: { id: number }) => id) as [number, number]
  const items = (...prices: number[]) =>
    prices.map((base_price, index) => ({ listing_id, room_type_id: ids[index] as number, base_price }))
  return {
    actor,
    push: (...prices: number[]) => actor.send('POST', path, { body: { data: items(...prices) } }),
    prices: async () =>
      (await read()).room_types.map(({ prices }: { prices: { base_price: number } }) => prices.base_price),
    job: (id: number, by: Actor = actor) => by.send('GET', `${path}/jobs/${id}`),
  }
}

test('the response to a rates write names its job, which is applied, and the prices are visible', async () => {
  const own = await partner()
  const pushed = await own.push(10, 20)
  const { job_id } = pushed.body.meta
  expect(pushed.status).toBe(200)
  expect(job_id).toSatisfy(Number.isSafeInteger)
  expect(job_id).toBeGreaterThan(0)
  const job = (await own.job(job_id)).body.data
  expect(job).toEqual({
    id: job_id,
    status: 'applied',
    errors: [],
    accepted_at: expect.stringMatching(/Z$/),
    applied_at: expect.stringMatching(/Z$/),
    items: 2,
  })
  expect(job.applied_at >= job.accepted_at).toBe(true)
  expect(await own.prices()).toEqual([10, 20])
  const sandbox = await own.actor.send('GET', '/sandbox/integrations/provider_one/rates/jobs/6001')
  expect(sandbox.body.data).toMatchObject({ id: 6001, status: 'applied', items: 1 })
})

test("a reader sees all of a write's prices or none", async () => {
  const own = await partner()
  await own.push(100, 100)
  for (let price = 101; price < 130; price += 1) {
    const pushing = own.push(price, price)
    let isApplied = false
    void pushing.then(() => {
      isApplied = true
    })
    while (!isApplied) {
      const [one, two] = await own.prices()
      expect([price - 1, price]).toContain(one)
      expect(two).toBe(one)
    }
    expect(await own.prices()).toEqual([price, price])
  }
})

test('a job is kept for a day', async () => {
  const own = await partner()
  const { job_id } = (await own.push(5)).body.meta
  const [stored] = await db.collection('rate_jobs').find({ id: job_id }).toArray()
  expect(stored?.expires_at.getTime()).toBe(stored?.applied_at.getTime() + 24 * 3_600_000)
  offset = 23 * 3_600_000
  expect((await own.job(job_id)).status).toBe(200)
  offset = 25 * 3_600_000
  expect((await own.job(job_id)).status).toBe(404)
  offset = 0
})

test("another host's job gets 404", async () => {
  const own = await partner()
  const other = await partner()
  const { job_id } = (await own.push(5)).body.meta
  expect((await own.job(job_id, other.actor)).status).toBe(404)
})
