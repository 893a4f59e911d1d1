import { webhookModel } from '../../src/changes/webhooks/model.ts'
import { systemClock } from '../../src/core/clock.ts'
import { type Actor, makeActor, sender } from '../support/app.ts'
import { fillBookings } from '../support/many-bookings.ts'
import { cpuSeconds } from './load.ts'
import { withService } from './service.ts'
import { atMost, type Row } from './table.ts'

const keys = 1000
const bookingsOfEach = 10
/** Number of hosts that are made at the same time. */
const together = 20
const settleMilliseconds = 10_000
/** All keys are evaluated every 30 s. */
const measuredSeconds = 60
const feed = '/v1/integrations/provider_one/bookings'

/**
 * Measures what evaluating the findings of 1,000 keys costs, beside the same keys in the same run whose webhooks want
 * hints instead. All keys have read their feeds, so nothing is sent.
 */
export function alarms(): Promise<Row[]> {
  return withService(async ({ db, service, mongod }) => {
    const send = sender(fetch, service.url)
    const makeKey = async () => {
      const actor = await makeActor({ db, clock: systemClock }, send)
      await fillBookings(db, actor.hostId, bookingsOfEach)
      await expectSuccess(actor, 'GET', feed)
      const webhook = { url: 'http://127.0.0.1:9/hooks', events: ['booking.changed'] }
      await expectSuccess(actor, 'POST', '/v1/webhooks', webhook)
    }
    for (let made = 0; made < keys; made += together)
      await Promise.all(Array.from({ length: together }, makeKey))
    const pids = { service: [service.pid], database: [mongod] }
    const hints = await cpuWhile(pids)
    await webhookModel(db).updateMany({}, { $set: { events: ['alarm.opened', 'alarm.resolved'] } })
    const evaluated = await cpuWhile(pids)
    const percent = (seconds: number) => (100 * seconds) / measuredSeconds
    return [
      atMost({
        work: 'alarms of 1,000 keys: CPU of the service',
        ratio: percent(evaluated.service - hints.service),
        limit: 2,
        of: '% of a core',
      }),
      {
        work: 'alarms of 1,000 keys: CPU of the database',
        result: `${percent(evaluated.database - hints.database).toFixed(2)} × % of a core`,
      },
      {
        work: 'the same keys with hints',
        result: `${percent(hints.service).toFixed(2)} % of a core, database ${percent(hints.database).toFixed(2)} %`,
      },
    ]
  })
}

async function cpuWhile<Name extends string>(pids: Record<Name, number[]>): Promise<Record<Name, number>> {
  await Bun.sleep(settleMilliseconds)
  const names = Object.keys(pids) as Name[]
  const read = () => Promise.all(names.map((name) => cpuSeconds(pids[name])))
  const before = await read()
  await Bun.sleep(measuredSeconds * 1000)
  const after = await read()
  const used = names.map((name, index) => [name, (after[index] as number) - (before[index] as number)])
  return Object.fromEntries(used) as Record<Name, number>
}

async function expectSuccess(actor: Actor, method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await actor.send(method, path, body ? { body } : {})
  if (status >= 300) throw new Error(`${path} responded ${status}: ${text}`)
}
