import { expect, test } from 'vitest'
import { openLog } from '../../src/platform/log.ts'
import { WorkWatch } from '../../src/platform/mongo/turns/work-watch.ts'
import { jobModel, type Topics } from '../../src/platform/outbox/outbox.ts'
import { OutboxWorker } from '../../src/platform/outbox/worker.ts'
import { testApp } from '../support/app.ts'
import { onScopeEnd, ownDatabase } from '../support/databases.ts'

const log = openLog('silent')
const hour = 3_600_000

/** A worker that nobody wakes, on a database of its own, and a clock that only the test moves. */
async function openResting(topics: (state: { done: string[] }) => Topics) {
  const { db } = (await testApp({ MONGODB_URL: await ownDatabase() })).live
  const state = { now: Date.now(), done: [] as string[] }
  const workWatch = new WorkWatch(db, log, 20)
  const worker = new OutboxWorker({
    db,
    topics: topics(state),
    clock: () => new Date(state.now),
    log,
    workWatch,
  })
  onScopeEnd(async () => {
    workWatch.close()
    await worker.stop()
  })
  worker.start()
  /** Stores what a process that was killed has left: a job that is due in some time, and that nobody was told of. */
  const leave = (name: string, inMilliseconds: number, attempts = 0) => {
    const due_at = new Date(state.now + inMilliseconds)
    const created_at = new Date(state.now)
    return jobModel(db).create({ topic: 'job', owner_id: 1, payload: { name }, due_at, created_at, attempts })
  }
  return { db, state, leave }
}

const noteName =
  ({ done }: { done: string[] }) =>
  async ({ name }: Record<string, unknown>) =>
    void done.push(String(name))

test('jobs whose process was killed before it told anybody, or while it did them, are done when they are due', async () => {
  const { state, leave } = await openResting((state) => ({ job: noteName(state) }))
  await leave('untold', 0)
  await expect.poll(() => state.done).toEqual(['untold'])
  // A claimed job is due when its lease ends.
  await leave('claimed', 30_000, 1)
  await leave('later', hour)
  await leave('now', 0)
  await expect.poll(() => state.done).toEqual(['untold', 'now'])
  state.now += 30_000
  await expect.poll(() => state.done).toEqual(['untold', 'now', 'claimed'])
  state.now += hour
  await expect.poll(() => state.done).toEqual(['untold', 'now', 'claimed', 'later'])
})

test('a job that has failed is done when it is due, also if the clock was set back and ahead meanwhile', async () => {
  let failures = 0
  const { db, state, leave } = await openResting((state) => ({
    job: async (payload) => {
      failures += 1
      if (failures === 1) throw new Error('The first attempt fails')
      await noteName(state)(payload)
    },
  }))
  await leave('failing', 0)
  const failed = () =>
    jobModel(db)
      .findOne({ last_error: { $ne: null } })
      .lean()
  await expect.poll(failed).not.toBeNull()
  state.now -= hour
  // The failed job is now due in an hour, and does not hold up others.
  await leave('other', 0)
  await expect.poll(() => state.done).toEqual(['other'])
  state.now += 2 * hour
  await expect.poll(() => state.done).toEqual(['other', 'failing'])
})
