import { expect, test } from 'vitest'
import { inTransaction } from '../../src/infra/mongo.ts'
import { jobModel, leaveJob, OutboxWorker } from '../../src/infra/outbox.ts'
import { mongodbUrlOf, testApp } from '../support/app.ts'

test('creating a user posts UserCreated once, again after the tag manager failed', async () => {
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
    MONGODB_URL: separateDatabase(),
    LOG_LEVEL: 'silent',
  })
  const actor = await service.actor()
  const { body } = await actor.send('POST', '/v1/users', {
    body: { email: 'a@b.cc', first_name: 'A', last_name: 'B' },
  })
  while (received.length === 0) await Bun.sleep(20)
  await Bun.sleep(600)
  const { user_id, created_at } = body.data
  expect(received).toEqual([
    { event: 'UserCreated', user_id, host_id: actor.hostId, source: 'api', created_at },
  ])
  expect(await jobModel(service.deps.db).countDocuments()).toBe(0)
  await tagManager.stop()
})

test('OutboxWorker parks a job that keeps failing and works on', async () => {
  const service = await testApp({ MONGODB_URL: separateDatabase(), LOG_LEVEL: 'silent' })
  const { db, log } = service.deps
  await service.deps.outbox.stop()
  let now = Date.now()
  const done: unknown[] = []
  const handlers = {
    bad: async () => {
      throw new Error('no')
    },
    good: async (payload: unknown) => void done.push(payload),
  }
  await inTransaction(db, 'test', async (session) => {
    await leaveJob(db, session, new Date(now), { topic: 'bad', host_id: 1, payload: {} })
    await leaveJob(db, session, new Date(now), { topic: 'good', host_id: 1, payload: { n: 1 } })
  })
  const hurriedClock = () => {
    now += 120_000
    return new Date(now)
  }
  const worker = new OutboxWorker(db, handlers, hurriedClock, log)
  worker.start()
  while ((await jobModel(db).countDocuments({ parked: true })) === 0) {
    worker.wake()
    await Bun.sleep(10)
  }
  await worker.stop()
  expect(done).toEqual([{ n: 1 }])
  expect(await jobModel(db).findOne().lean()).toMatchObject({
    topic: 'bad',
    attempts: 10,
    parked: true,
    last_error: 'Error: no',
  })
})

/** The outbox is shared by all processes on a database: these tests need one of their own. */
function separateDatabase(): string {
  return mongodbUrlOf(`events_${crypto.randomUUID().slice(0, 8)}`)
}
