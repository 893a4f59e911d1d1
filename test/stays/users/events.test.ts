import { expect, test } from 'vitest'
import { inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { enqueueJob, jobModel, type Topics } from '../../../src/platform/outbox/outbox.ts'
import { OutboxWorker } from '../../../src/platform/outbox/worker.ts'
import { partnerctlHere } from '../../support/admin.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

test('POST /v1/users sends UserCreated once, and again only if the tag manager fails', async () => {
  const received: unknown[] = []
  let isDown = true
  const tagManager = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (isDown) {
        isDown = false
        return new Response('down', { status: 503 })
      }
      received.push(await request.json())
      return new Response('ok')
    },
  })
  const service = await testApp({
    TAG_MANAGER_URL: `http://127.0.0.1:${tagManager.port}/`,
    MONGODB_URL: await ownDatabase(),
    LOG_LEVEL: 'silent',
  })
  const actor = await service.actor()
  const { body } = await actor.send('POST', '/v1/users', {
    body: { email: 'a@b.cc', first_name: 'A', last_name: 'B' },
  })
  await expect.poll(() => received.length).toBe(1)
  await expect.poll(() => jobModel(service.live.db).countDocuments()).toBe(0)
  const { user_id, created_at } = body.data
  expect(received).toEqual([
    { event: 'UserCreated', user_id, host_id: actor.hostId, source: 'api', created_at },
  ])
  expect(await jobModel(service.live.db).countDocuments()).toBe(0)
  await tagManager.stop()
})

test('OutboxWorker parks a job that keeps failing and runs the others', async () => {
  const service = await testApp({ MONGODB_URL: await ownDatabase(), LOG_LEVEL: 'silent' })
  const { db, log, workWatch } = service.live
  await service.live.outbox.stop()
  let now = Date.now()
  const done: unknown[] = []
  const topics = {
    bad: async () => {
      throw new Error('no')
    },
    good: async (payload: unknown) => void done.push(payload),
  }
  await inTransaction(db, 'test', async (session) => {
    await enqueueJob(db, session, new Date(now), { topic: 'bad', owner_id: 1, payload: {} })
    await enqueueJob(db, session, new Date(now), { topic: 'good', owner_id: 1, payload: { n: 1 } })
  })
  const hurriedClock = () => {
    now += 3_600_000
    return new Date(now)
  }
  const worker = new OutboxWorker({ db, topics, clock: hurriedClock, log, workWatch })
  worker.start()
  while ((await jobModel(db).countDocuments({ parked: true })) === 0) {
    worker.wake()
    await Bun.sleep(10)
  }
  await worker.stop()
  expect(done).toEqual([{ n: 1 }])
  const parked = await jobModel(db).findOne().lean()
  expect(parked).toMatchObject({ topic: 'bad', parked: true, last_error: 'Error: no' })
  // The job was retried for a day before it was parked.
  expect(now - (parked?.created_at.getTime() ?? 0)).toBeGreaterThanOrEqual(24 * 3_600_000)
})

test('OutboxWorker runs one topic while another one hangs, and ignores unknown topics', async () => {
  const apart = await testApp({ MONGODB_URL: await ownDatabase() })
  const { db, log, clock, workWatch } = apart.live
  await apart.live.outbox.stop()
  const hanging = Promise.withResolvers<void>()
  const done: unknown[] = []
  const topics: Topics = {
    hangs: () => hanging.promise,
    works: async (payload) => void done.push(payload.n),
  }
  const worker = new OutboxWorker({ db, topics, clock, log, workWatch })
  await inTransaction(db, 'test', async (session) => {
    for (const topic of ['hangs', 'hangs', 'of a later version'])
      await enqueueJob(db, session, clock(), { topic, owner_id: 1, payload: {} })
    for (const n of [1, 2, 3])
      await enqueueJob(db, session, clock(), { topic: 'works', owner_id: 1, payload: { n } })
  })
  worker.start()
  while (done.length < 3) await Bun.sleep(10)
  hanging.resolve()
  while (await jobModel(db).exists({ topic: 'hangs' })) await Bun.sleep(10)
  await worker.stop()
  expect(await jobModel(db).find().lean()).toMatchObject([
    { topic: 'of a later version', attempts: 0, parked: false },
  ])
})

test('a process with a wrong clock takes no job that another process holds, and parks none', async () => {
  const apart = await testApp({ MONGODB_URL: await ownDatabase() })
  const { db, log, clock, workWatch } = apart.live
  await apart.live.outbox.stop()
  const day = 25 * 3_600_000
  const looked: boolean[] = []
  let isSound = false
  const tried: unknown[] = []
  const run = async (payload: { n?: unknown }) => {
    tried.push(payload.n)
    throw new Error('no')
  }
  const inADay = () => new Date(clock().getTime() + day)
  const mayWork = () => {
    looked.push(isSound)
    return isSound
  }
  const worker = new OutboxWorker({ db, topics: { held: run }, clock: inADay, log, workWatch, mayWork })
  const before = { topic: 'held', owner_id: 1, payload: { n: 1 } }
  await inTransaction(db, 'test', (session) => enqueueJob(db, session, clock(), before))
  worker.start()
  const looks = () => {
    worker.wake()
    return looked.length
  }
  await expect.poll(looks).toBeGreaterThan(2)
  expect({ tried, waitingJobs: await jobModel(db).countDocuments({ attempts: 0, parked: false }) }).toEqual({
    tried: [],
    waitingJobs: 1,
  })
  isSound = true
  worker.wake()
  await expect.poll(() => tried).toEqual([1])
  await worker.stop()
})

test('partnerctl jobs retry --all retries every parked job, and jobs drop deletes one', async () => {
  const url = await ownDatabase()
  const apart = await testApp({ MONGODB_URL: url })
  const { db, clock } = apart.live
  await apart.live.outbox.stop()
  const at = clock()
  const job = (topic: string) => ({
    topic,
    owner_id: 1,
    payload: {},
    parked: true,
    due_at: at,
    created_at: at,
  })
  await jobModel(db).create([job('one'), job('two')])
  const run = async (...args: string[]) => partnerctlHere(['jobs', ...args, '--json'], { MONGODB_URL: url })
  expect(JSON.parse((await run('retry', '--all')).stdout)).toEqual({ retried: 2 })
  expect(await jobModel(db).countDocuments({ parked: true })).toBe(0)
  const { _id } = await jobModel(db).findOne({ topic: 'two' }).orFail()
  expect((await run('drop', String(_id), '--yes')).code).toBe(0)
  expect((await run('drop', String(_id), '--yes')).code).toBe(1)
  expect((await jobModel(db).find().lean()).map(({ topic }) => topic)).toEqual(['one'])
  for (const wrong of [['retry'], ['retry', String(_id), '--all']]) expect((await run(...wrong)).code).toBe(2)
})
