import { addDays, systemClock, toDay } from '../../src/core/clock.ts'
import { calendarModel } from '../../src/inventory/calendars/model.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { makeActor, sender } from '../support/app.ts'
import { calendarOf, listingWithCalendars } from '../support/calendars.ts'
import { startService } from '../support/processes.ts'
import { cpuSeconds } from './load.ts'
import { type BenchServers, withServers } from './service.ts'
import { atMost, type Row } from './table.ts'

/** Decisions §31 allow four readings in any second to one origin, so this many take at least 100 s. */
const atOneOrigin = 400
const all = 2000
const origins = 50
const roomsPerListing = 50
const perSecond = 4
const idleSeconds = 60

/** Measures how long two processes take to read many calendars, and what they spend while none is due. */
export function calendarCrowds(): Promise<Row[]> {
  return withServers(async (servers) => {
    const settings = { ...servers.settings, LOG_LEVEL: 'silent' }
    const services = await Promise.all([startService(settings), startService(settings)])
    const pids = services.map(({ pid }) => pid)
    try {
      const without = await idleShare(pids)
      const many = await readAll(servers, services[0].url, { calendars: all, origins, pids })
      const one = await readAll(servers, services[0].url, { calendars: atOneOrigin, origins: 1, pids })
      await postpone(servers.db)
      const withCalendars = await idleShare(pids)
      const least = atOneOrigin / perSecond
      return [
        {
          work: `${all} calendars of a host at ${origins} origins, two processes: until all are read`,
          result: `${many.seconds.toFixed(0)} s, ${many.cpuMilliseconds.toFixed(1)} ms of CPU for each`,
        },
        atMost({
          work: `${atOneOrigin} calendars at one origin, two processes`,
          ratio: one.seconds / least,
          limit: 1.5,
          of: `${least} s, the least that four a second take`,
        }),
        {
          work: `busiest second at one origin`,
          result: `${one.busiest} requests`,
          aim: `≤ ${perSecond}`,
          holds: one.busiest <= perSecond,
        },
        atMost({
          work: `${all + atOneOrigin} calendars of which none is due: CPU of a process above the same without calendars`,
          ratio: withCalendars - without,
          limit: 0.2,
          of: '% of a core',
        }),
      ]
    } finally {
      await Promise.all(services.map((service) => service.stop()))
    }
  })
}

interface Crowd {
  calendars: number
  origins: number
  pids: number[]
}

/** Sets the addresses of many calendars at once, and waits until all of them are read. */
async function readAll({ db }: BenchServers, url: string, crowd: Crowd) {
  const times: number[] = []
  const today = toDay(new Date())
  const file = calendarOf([[addDays(today, 5), addDays(today, 8)]])
  const sites = Array.from({ length: crowd.origins }, () => {
    const respond = () => {
      times.push(performance.now())
      return new Response(file)
    }
    return Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: respond })
  })
  const store = { db, clock: systemClock }
  const actor = await makeActor(store, sender(fetch, url), { rateLimit: 1_000_000_000 })
  const cpuBefore = await cpuSeconds(crowd.pids)
  const start = performance.now()
  for (let first = 0; first < crowd.calendars; first += roomsPerListing) {
    const urls = Array.from({ length: roomsPerListing }, (_, index) => {
      return `http://127.0.0.1:${sites[(first + index) % sites.length]?.port}/${first + index}.ics`
    })
    await listingWithCalendars(actor, urls)
  }
  const filter = { owner_id: actor.hostId, status: 'ok' } as const
  while ((await calendarModel(db).collection.countDocuments(filter)) < crowd.calendars) await Bun.sleep(250)
  const seconds = (performance.now() - start) / 1000
  const cpu = (await cpuSeconds(crowd.pids)) - cpuBefore
  await Promise.all(sites.map((site) => site.stop(true)))
  const busiest = Math.max(
    ...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length),
  )
  return { seconds, busiest, cpuMilliseconds: (cpu * 1000) / crowd.calendars }
}

/** Makes all calendars due in an hour, so that none is due while idle processes are measured. */
async function postpone(db: Db): Promise<void> {
  const due = new Date(Date.now() + 3_600_000)
  await calendarModel(db).collection.updateMany({}, { $set: { next_read_at: due, claimable_at: due } })
}

/** Returns the share of a core that an idle process takes, in percent. */
async function idleShare(pids: number[]): Promise<number> {
  await Bun.sleep(10_000)
  const before = await cpuSeconds(pids)
  await Bun.sleep(idleSeconds * 1000)
  return (100 * ((await cpuSeconds(pids)) - before)) / idleSeconds / pids.length
}
