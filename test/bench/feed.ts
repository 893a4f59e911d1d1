import { systemClock } from '../../src/clock.ts'
import { toVersion } from '../../src/feed/version.ts'
import { type FeedQuery, readFeedPage } from '../../src/feed/walk.ts'
import { fillBookings } from '../support/many-bookings.ts'
import { medianMilliseconds, withDatabase } from './measure.ts'

/** The feed of a host with 1,000,000 bookings beside one with 10,000. */
const [small, large] = [10_000, 1_000_000]

await withDatabase(async ({ db }) => {
  const hosts = { small: await fillBookings(db, 1, small), large: await fillBookings(db, 2, large) }
  const read = (hostId: number, query: FeedQuery, page: number, perPage = 50) =>
    readFeedPage({ db, clock: systemClock }, { hostId, scope: hostId }, query, { page, perPage })
  const before = (last: Date, seconds: number) => ({
    updated_after: toVersion(new Date(last.getTime() - seconds * 1000)),
  })

  const poll = (hostId: number, last: Date) => {
    // Another moment each time, so that nothing is answered from a count kept before.
    let seconds = 400
    return () => read(hostId, before(last, seconds++), 1)
  }
  const idle = (hostId: number, last: Date) => () => read(hostId, before(last, 0), 1)
  // A walk to page 10,000 leaves its ends behind; then both pages are read again and again.
  for (let page = 9998; page <= 9999; page += 1) await read(2, {}, page)
  const runs = {
    'poll of 10,000': poll(1, hosts.small.lastVersion),
    'poll of 1,000,000': poll(2, hosts.large.lastVersion),
    'idle poll of 10,000': idle(1, hosts.small.lastVersion),
    'idle poll of 1,000,000': idle(2, hosts.large.lastVersion),
    'page 1 of 1,000,000': () => read(2, {}, 1),
    'page 10,000 of 1,000,000': () => read(2, {}, 10_000),
  }
  const times = await medianMilliseconds(Object.values(runs), 300)
  const time = Object.fromEntries(
    Object.keys(runs).map((name, index) => [name, times[index] as number]),
  ) as Record<keyof typeof runs, number>
  const row = (name: keyof typeof runs, against: keyof typeof runs) => ({
    milliseconds: time[name],
    ratio: time[name] / time[against],
  })
  console.table({
    'poll of 10,000': row('poll of 10,000', 'poll of 10,000'),
    'poll of 1,000,000': row('poll of 1,000,000', 'poll of 10,000'),
    'idle poll of 10,000': row('idle poll of 10,000', 'poll of 10,000'),
    'idle poll of 1,000,000': row('idle poll of 1,000,000', 'poll of 10,000'),
    'page 1 of 1,000,000': row('page 1 of 1,000,000', 'page 1 of 1,000,000'),
    'page 10,000 of 1,000,000': row('page 10,000 of 1,000,000', 'page 1 of 1,000,000'),
  })
})
