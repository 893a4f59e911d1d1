import { toVersion } from '../../src/bookings/version.ts'
import { systemClock } from '../../src/clock.ts'
import { type FeedQuery, readFeedPage } from '../../src/feed/page.ts'
import { fillBookings } from '../support/many-bookings.ts'
import { atMost, medianMilliseconds, type Row, times, withDatabase } from './measure.ts'

const [small, large] = [10_000, 1_000_000]

/** The feed of a host with 1,000,000 bookings, compared with a host of 10,000. */
export function feedBench(): Promise<Row[]> {
  return withDatabase(async ({ db }) => {
    const hosts = { small: await fillBookings(db, 1, small), large: await fillBookings(db, 2, large) }
    const read = (hostId: number, query: FeedQuery, page: number, perPage = 50) =>
      readFeedPage({ db, clock: systemClock }, { hostId, scope: hostId }, query, { page, perPage })
    const before = (last: Date, seconds: number) => ({
      updated_after: toVersion(new Date(last.getTime() - seconds * 1000)),
    })

    const poll = (hostId: number, last: Date) => {
      // Another moment each time, so that no count from before can be reused.
      let seconds = 400
      return () => read(hostId, before(last, seconds++), 1)
    }
    const idle = (hostId: number, last: Date) => () => read(hostId, before(last, 0), 1)
    // A reader that came to page 10,000 left page ends behind; then both pages are read again and again.
    for (let page = 9998; page <= 9999; page += 1) await read(2, {}, page)
    const time = await medianMilliseconds(
      {
        poll: poll(1, hosts.small.lastVersion),
        pollOfLarge: poll(2, hosts.large.lastVersion),
        idleOfLarge: idle(2, hosts.large.lastVersion),
        firstPage: () => read(2, {}, 1),
        farPage: () => read(2, {}, 10_000),
      },
      300,
    )
    return [
      atMost(
        'feed: poll of 1,000,000 bookings against 10,000',
        time.pollOfLarge / time.poll,
        1.15,
        times(time.poll, time.pollOfLarge),
      ),
      atMost(
        'feed: idle poll of 1,000,000 against a poll of 10,000',
        time.idleOfLarge / time.poll,
        0.34,
        times(time.poll, time.idleOfLarge),
      ),
      atMost(
        'feed: page 10,000 in sequence against page 1',
        time.farPage / time.firstPage,
        1.5,
        times(time.firstPage, time.farPage),
      ),
    ]
  })
}
