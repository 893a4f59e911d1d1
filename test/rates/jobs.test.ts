import { expect, test } from 'vitest'
import { carryOut } from '../../src/platform/mongo/transactions.ts'
import { prepareRates } from '../../src/rates/accept.ts'
import { decideRates } from '../../src/rates/decide.ts'
import { type Actor, mongodbUrlOf, testApp } from '../support/app.ts'
import { partnerctl } from '../support/processes.ts'

const url = mongodbUrlOf(`rate_jobs_${crypto.randomUUID().slice(0, 8)}`)
let offset = 0
const service = await testApp({ MONGODB_URL: url }, () => new Date(Date.now() + offset))
const { live } = service
const { db } = live
const path = '/v1/integrations/provider_one/rates'

/** A host with a listing of two room types. */
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
    listing_id,
    items,
    push: (...prices: number[]) => actor.send('POST', path, { body: { data: items(...prices) } }),
    /** What a process leaves that was killed right after it had accepted the rates. */
    accept: async (...prices: number[]) =>
      carryOut(live.db, await prepareRates(live, actor.hostId, items(...prices))),
    prices: async () =>
      (await read()).room_types.map(({ prices }: { prices: { base_price: number } }) => prices.base_price),
    job: (id: number, by: Actor = actor) => by.send('GET', `${path}/jobs/${id}`),
  }
}

async function ended({ job }: Awaited<ReturnType<typeof partner>>, id: number) {
  for (;;) {
    const { body } = await job(id)
    if (body.data.status !== 'waiting') return body.data
    await Bun.sleep(20)
  }
}

test('the answer to a rates write names its job, which is applied when the prices are visible', async () => {
  const own = await partner()
  const pushed = await own.push(10, 20)
  const { job_id } = pushed.body.meta
  expect([pushed.status, Number.isSafeInteger(job_id), job_id > 0]).toEqual([200, true, true])
  const job = await ended(own, job_id)
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

test('a job waits after a crash, unseen but for bookings, and is applied by whoever comes', async () => {
  const own = await partner()
  await live.outbox.stop()
  const { jobId } = await own.accept(300)
  expect((await own.job(jobId)).body.data).toMatchObject({ status: 'waiting', applied_at: null, items: 1 })
  expect(await own.prices()).toEqual([1, 2])
  const user = await own.actor.send('POST', '/v1/users', {
    body: { email: 'u@example.com', first_name: 'A', last_name: 'B' },
  })
  const { listing_id, room_type_id } = own.items(1)[0] as { listing_id: number; room_type_id: number }
  const stay = { listing_id, room_type_id, checkin_at: '2027-04-01', checkout_at: '2027-05-01' }
  const booked = await own.actor.send('POST', '/v1/bookings', {
    body: { ...stay, user_id: user.body.data.user_id },
  })
  expect(booked.body.data.price).toBe(300)
  live.outbox.start()
  expect(await ended(own, jobId)).toMatchObject({ status: 'applied' })
  expect(await own.prices()).toEqual([300, 2])
})

test('a listing write applies what was accepted before it', async () => {
  const own = await partner()
  await live.outbox.stop()
  const { jobId } = await own.accept(30, 40)
  await own.actor.send('PATCH', `/v1/listings/${own.listing_id}`, {
    body: { room_types: [{ id: own.items(1)[0]?.room_type_id, prices: { base_price: 50 } }] },
  })
  expect((await own.job(jobId)).body.data.status).toBe('applied')
  expect(await own.prices()).toEqual([50, 40])
  live.outbox.start()
})

test('a job fails as a whole with the item that failed, and holds up no later one', async () => {
  const own = await partner()
  await live.outbox.stop()
  const failing = await own.accept(11, 22)
  const later = await own.accept(33)
  const gone = own.items(0, 0)[1]?.room_type_id
  await db
    .collection('listings')
    .updateOne({ id: own.listing_id }, { $pull: { 'content.room_types': { id: gone } } as never })
  live.outbox.start()
  expect(await ended(own, failing.jobId)).toMatchObject({
    status: 'failed',
    applied_at: null,
    items: 2,
    errors: [
      {
        path: 'data.1.room_type_id',
        code: 'invalid',
        message: '"data.1.room_type_id" is not a room type of the listing any more',
      },
    ],
  })
  expect(await ended(own, later.jobId)).toMatchObject({ status: 'applied', errors: [] })
  expect(await own.prices()).toEqual([33])
})

test('a reader never sees prices of a job that waits, nor an applied job without its prices', async () => {
  const own = await partner()
  await live.outbox.stop()
  for (let price = 100; price < 130; price += 1) {
    const { sequence, jobId } = await own.accept(price)
    const deciding = Bun.sleep(Math.random() * 6).then(() => decideRates(live, own.actor.hostId, sequence))
    for (let isApplied = false; !isApplied; ) {
      const before = (await own.job(jobId)).body.data.status
      const [shown] = await own.prices()
      const after = (await own.job(jobId)).body.data.status
      if (before === 'applied') expect(shown).toBe(price)
      if (after === 'waiting') expect(shown).toBe(price === 100 ? 1 : price - 1)
      isApplied = before === 'applied'
    }
    await deciding
  }
  live.outbox.start()
})

test('a job is kept for a day from its end, and a waiting one for good', async () => {
  const own = await partner()
  const { job_id } = (await own.push(5)).body.meta
  await ended(own, job_id)
  await live.outbox.stop()
  const { jobId } = await own.accept(6)
  const [stored] = await db.collection('rate_jobs').find({ id: job_id }).toArray()
  expect(stored?.expires_at.getTime()).toBe(stored?.applied_at.getTime() + 24 * 3_600_000)
  offset = 25 * 3_600_000
  expect((await own.job(job_id)).status).toBe(404)
  expect((await own.job(jobId)).body.data.status).toBe('waiting')
  offset = 0
  live.outbox.start()
})

test("another host's job is 404", async () => {
  const [own, other] = [await partner(), await partner()]
  const { job_id } = (await own.push(5)).body.meta
  expect((await own.job(job_id, other.actor)).status).toBe(404)
})

test('rates that an administrator drops have failed', async () => {
  const own = await partner()
  await live.outbox.stop()
  const { jobId } = await own.accept(77)
  const environment = { MONGODB_URL: url }
  const listed = JSON.parse((await partnerctl(['jobs', 'list', '--json'], environment)).stdout)
  const [{ id }] = listed.filter(({ topic }: { topic: string }) => topic === 'ApplyRates').slice(-1)
  expect((await partnerctl(['jobs', 'drop', id, '--yes'], environment)).code).toBe(0)
  expect((await own.job(jobId)).body.data).toMatchObject({
    status: 'failed',
    errors: [{ path: 'data', message: 'An administrator dropped these rates' }],
  })
  expect(await own.prices()).toEqual([1, 2])
  live.outbox.start()
})
