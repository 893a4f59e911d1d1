import { test } from 'vitest'
import { webhookModel } from '../../../src/changes/webhooks/model.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startReceiver } from '../../support/receiver.ts'
import { soakFactor } from '../../support/soak.ts'

const shared = { MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' }
const [one, other] = await Promise.all([testApp(shared), testApp(shared)])

test('however slow transactions are, no second has more than ten attempts from the sandboxes of two processes to one origin', async (context) => {
  const { expect } = context
  const times: number[] = []
  const { url, received } = startReceiver(context, async () => {
    times.push(performance.now())
    await Bun.sleep(Math.random() * 300)
    return new Response()
  })
  const actors = await Promise.all([one, other, one, other].map((process) => process.actor()))
  const send = async (index: number, to: string, body?: object) => {
    const { status, text, body: answer } = (await actors[index]?.send('POST', to, { body })) ?? {}
    if (status !== 409) expect(status, text).toBeLessThan(300)
    return answer?.data
  }
  const indexes = [...actors.keys()]
  const webhook = { url, events: ['message.created'] }
  const ids = await Promise.all(indexes.map((index) => send(index, '/sandbox/webhooks', webhook)))
  const isOver = new AbortController()
  // Another transaction keeps changing the webhooks, so the transactions that create hints conflict and start over.
  const disturb = async () => {
    const { db } = one.sandbox
    while (!isOver.signal.aborted) {
      const session = await db.getClient().startSession()
      session.startTransaction()
      await webhookModel(db)
        .updateMany({}, { $inc: { disturbed: 1 } }, { session, strict: false })
        .catch(() => {})
      await Bun.sleep(1000 + Math.random() * 500)
      await session.abortTransaction().catch(() => {})
      await session.endSession()
      await Bun.sleep(Math.random() * 500)
    }
  }
  const disturbing = disturb()
  const count = 20 * soakFactor
  const test = async (index: number) => {
    while (!isOver.signal.aborted) {
      await send(index, `/sandbox/webhooks/${ids[index].id}/test`)
      await Bun.sleep(500)
    }
  }
  const testing = indexes.map(test)
  await Promise.all(
    indexes.map((index) => send(index, '/sandbox/scenarios/guest-writes', { count: Math.min(500, count) })),
  )
  const hints = () =>
    new Set(
      received
        .filter(({ hint }) => hint.type === 'message.created')
        .map(({ headers }) => headers['webhook-id']),
    )
  await expect.poll(() => hints().size).toBe(indexes.length * Math.min(500, count))
  isOver.abort()
  await Promise.all([disturbing, ...testing])
  const inSecondFrom = times.map((from) => times.filter((at) => at >= from && at < from + 1000).length)
  console.log(`${times.length} attempts, ${Math.max(...inSecondFrom)} in the busiest second`)
  expect(Math.max(...inSecondFrom)).toBeLessThanOrEqual(10)
})
