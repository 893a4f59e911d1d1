import { expect, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { limitAllNights } from '../../support/availability.ts'
import { ownDatabase } from '../../support/databases.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { startReceiver } from '../../support/receiver.ts'
import { soakFactor } from '../../support/soak.ts'

const environment = testEnvironment({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' })
// Mints keys, and is one more process that may evaluate.
const minter = await testApp({ MONGODB_URL: environment.MONGODB_URL ?? '', WEBHOOKS_ALLOW_PRIVATE: 'on' })
const feed = '/sandbox/integrations/provider_one/bookings'
const rounds = 4 * soakFactor

/** Kills a process and starts another in its place. */
async function replace(processes: ServiceProcess[], index: number): Promise<void> {
  await processes[index]?.end('SIGKILL')
  processes[index] = await startService(environment)
}

test('each finding opens one alarm and resolves it once while processes are killed', async (context) => {
  const { url, received } = startReceiver(context)
  const processes = await Promise.all([startService(environment), startService(environment)])
  context.onTestFinished(async () => {
    await Promise.all(processes.map((one) => one.stop()))
  })
  const actor = await minter.actor()
  const { key } = actor
  const send = async (method: string, path: string, body?: object) => {
    for (;;) {
      const port = processes.find(({ pid }) => isAlive(pid)) as ServiceProcess
      const answer = await sender(fetch, port.url)(method, path, {
        key,
        ...(body ? { body } : {}),
        repeatWhileBusy: true,
      }).catch(() => null)
      if (answer) return answer
      await Bun.sleep(100)
    }
  }
  const { body } = await send('GET', feed)
  const ids: number[] = body.data.Bookings.map(({ booking_id }: { booking_id: number }) => booking_id)
  await limitAllNights(actor, '/sandbox')
  await send('POST', '/sandbox/webhooks', { url, events: ['alarm.opened', 'alarm.resolved'] })
  const alarms = (type: string) =>
    new Set(received.filter(({ hint }) => hint.type === type).map(({ headers }) => headers['webhook-id']))
  for (let round = 1; round <= rounds; round += 1) {
    const id = ids[round % ids.length]
    await send('POST', `/sandbox/bookings/${id}/messages/guest`, { message: { text: `Round ${round}` } })
    await send('POST', '/sandbox/scenarios/guest-books', { count: 1 })
    await send('POST', '/sandbox/clock', { advance_seconds: 31 * 60 })
    const kill = Bun.sleep(Math.random() * 3000).then(() => replace(processes, round % 2))
    await expect.poll(() => alarms('alarm.opened').size).toBe(round)
    await kill
    await send('GET', `${feed}?updated_after=2020-01-01&per_page=100`)
    // Whoever evaluates must see the read, which is written every two seconds.
    await Bun.sleep(2500)
    await send('POST', '/sandbox/clock', { advance_seconds: 1 })
    const again = Bun.sleep(Math.random() * 3000).then(() => replace(processes, (round + 1) % 2))
    await expect.poll(() => alarms('alarm.resolved').size).toBe(round)
    await again
  }
  const idsOf = (type: string) =>
    received.filter(({ hint }) => hint.type === type).map(({ hint }) => hint.data.alarm_id)
  expect({
    opened: new Set(idsOf('alarm.opened')).size,
    resolved: new Set(idsOf('alarm.resolved')).size,
    isSame: [...new Set(idsOf('alarm.opened'))].every((one) => idsOf('alarm.resolved').includes(one)),
  }).toEqual({ opened: rounds, resolved: rounds, isSame: true })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
