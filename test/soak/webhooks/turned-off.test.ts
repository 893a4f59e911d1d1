import { test } from 'vitest'
import { moveClocksAhead } from '../../../src/host-clock/store.ts'
import { leaseModel } from '../../../src/platform/mongo/turns/lease.ts'
import { type Actor, testApp } from '../../support/app.ts'
import { hookSettings, withClock } from '../../support/hook-services.ts'
import { startReceiver } from '../../support/receiver.ts'
import { deliveriesOf, hookedPartner } from '../../support/webhooks.ts'

const path = '/v1/webhooks'
const hour = 3_600_000

const slow = await testApp(await hookSettings())
const clocked = await Promise.all([withClock(), withClock()])

/** Moves the clock from attempt to attempt until the last attempt of a webhook's only hint has failed. */
async function useUpAttempts(
  { service: of, move }: Awaited<ReturnType<typeof withClock>>,
  actor: Actor,
  id: number,
): Promise<void> {
  for (;;) {
    const [delivery] = await deliveriesOf(actor, id)
    if (delivery?.status === 'failed') return
    // There is no next attempt while one is in progress.
    const next = delivery?.next_attempt_at ? Date.parse(delivery.next_attempt_at) : 0
    const wait = next - of.live.clock().getTime()
    if (wait > 0) move(wait)
    await Bun.sleep(20)
  }
}

test.concurrent('a webhook without waiting hints is turned off after five days too', async (context) => {
  const { expect } = context
  const { service: apart, move } = clocked[0]
  const { url } = startReceiver(context, () => new Response(null, { status: 500 }))
  const { actor, id, book } = await hookedPartner(apart, url, ['booking.changed'])
  await book()
  await useUpAttempts(clocked[0], actor, id)
  move(4 * 24 * hour)
  const state = async () => (await actor.send('GET', `${path}/${id}`)).body.data
  await expect.poll(state).toMatchObject({ enabled: false, disabled_reason: 'failing' })
})

test.concurrent('a webhook that fails is off after five days, even if a restore moved the clock ahead of its feeds', async (context) => {
  const { expect } = context
  const { service: apart, move } = clocked[1]
  const { url } = startReceiver(context, () => new Response(null, { status: 500 }))
  const { actor, id, book } = await hookedPartner(apart, url)
  await book()
  await useUpAttempts(clocked[1], actor, id)
  await moveClocksAhead(apart.live.db, apart.live.clock(), 3600)
  move(4 * 24 * hour)
  const state = async () => (await actor.send('GET', `${path}/${id}`)).body.data
  await expect.poll(state).toMatchObject({ enabled: false, disabled_reason: 'failing' })
})

test.concurrent('a change during a late lease renewal is hinted once the lease is held again', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const { actor, book } = await hookedPartner(slow, url, ['booking.changed'])
  const lease = leaseModel(slow.live.db).collection
  const until = async () => (await lease.findOne({}))?.until
  // Starts right after a renewal, so that the next renewal, even a late one, completes before the following one is due.
  for (let renewals = 0; renewals < 2; renewals += 1) await expect.poll(until).not.toEqual(await until())
  const session = slow.live.db.getClient().startSession()
  session.startTransaction()
  const held = await lease.findOneAndUpdate({}, { $set: { held: true } }, { session })
  await expect.poll(() => Date.now() > held?.until.getTime()).toBe(true)
  const moved = Promise.withResolvers<void>()
  const following = slow.live.changes.follow((hostId) => hostId === actor.hostId && moved.resolve())
  const { booking_id } = (await book()).body.data
  await moved.promise
  following.end()
  expect(received).toEqual([])
  await session.abortTransaction()
  await session.endSession()
  await expect.poll(() => received.map(({ hint }) => hint.data.booking_id)).toEqual([booking_id])
})
