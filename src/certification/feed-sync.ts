import { readHostClock } from '../versions/host-clock-store.ts'
import { areOver, metFaults } from './faults.ts'
import { arrivals, delivered, missed, rememberClock, route } from './feed-reads.ts'
import { start, wait } from './next.ts'
import { passFirstVersion, play } from './play.ts'
import { changesAfter } from './reads.ts'
import { type CourseStep, draw, type Run } from './step.ts'

/** Minimum number of bookings that the first sync must read. A product that filters out more proves nothing. */
const leastShown = 100

/** Returns the bookings that the first sync has read, their listings, and all bookings of these listings (`wanted`). */
async function syncedSoFar(run: Run) {
  const all = await changesAfter(run, null)
  const shown = await delivered(run, all)
  const listings = [...new Set(shown.map(({ listing_id }) => listing_id))]
  const wanted = all.filter(({ listing_id }) => listings.includes(listing_id))
  return { wanted, arrived: shown, listings }
}

/** The step that grades whether the product reads everything at its first start. */
export const firstSync: CourseStep = {
  name: 'first-sync',
  profile: 'feed',
  cases: ['feed.pages'],
  byHand: [route],
  next: start,
  async look(run) {
    const { wanted, arrived, listings } = await syncedSoFar(run)
    if (arrived.length < Math.max(wanted.length, leastShown)) return { progress: arrived.length }
    return { results: { 'feed.pages': { status: 'passed' } }, isDone: true, facts: { listings } }
  },
  async late(run) {
    const { wanted, arrived } = await syncedSoFar(run)
    return `Only ${arrived.length} of ${Math.max(wanted.length, leastShown)} bookings were read: do not filter them away, and follow the pages until \`last_page\`, or \`next_cursor\` until it is null`
  },
}

/**
 * The step that waits until the clock has caught up with the versions, which run ahead of it by a second for each
 * change of a burst. Until then, a product that continues from its own clock misses nothing, so its mistake would stay
 * hidden.
 */
export const calm: CourseStep = {
  name: 'calm',
  profile: 'feed',
  cases: [],
  next: wait,
  async look({ app, hostId, now, beganAt, bounds }) {
    const isOver = now.getTime() - beganAt.getTime() > bounds.catchUp
    return { isDone: isOver || (await readHostClock(app.db, hostId)) < now }
  },
  late: () => '',
}

/** Variant of {@link calm} in which the product is stopped. */
export const calmStop: CourseStep = {
  ...calm,
  name: 'calm-stop',
  next: { action: 'wait', text: 'Leave the product stopped, for up to four minutes' },
}

/** The step that grades whether the product reads each change that guests and hosts make. */
export const changes: CourseStep = {
  name: 'changes',
  profile: 'feed',
  cases: ['feed.changes'],
  next: wait,
  prepare: rememberClock,
  async play(run) {
    const { seed } = run.certification
    const guests = draw(seed, 'burst', 20, 40)
    await play(run, 'host-confirms')
    await play(run, 'guest-cancels')
    await play(run, 'cancelled-before-seen')
    await play(run, 'changed-within-a-second')
    await play(run, 'guest-books', { count: guests })
  },
  async look(run) {
    const { arrived, isComplete } = await arrivals(run)
    return isComplete
      ? { results: { 'feed.changes': { status: 'passed' } }, isDone: true }
      : { progress: arrived.length }
  },
  late: (run) =>
    missed(
      run,
      'feed.changes',
      (ids, count) =>
        `${count} changes were not read (bookings ${ids}): go on after the last \`version\` of the page, not after a time of your own`,
    ),
}

/** The step that grades whether the product requests lost and cut responses again. */
export const lost: CourseStep = {
  name: 'lost',
  profile: 'feed',
  cases: ['feed.lost'],
  next: wait,
  prepare: rememberClock,
  faults: ({ bounds: { losing: milliseconds } }) => [
    { fault: 'lost_response', route, milliseconds },
    { fault: 'cut_response', route, milliseconds },
  ],
  async play(run) {
    await play(run, 'guest-books', { count: draw(run.certification.seed, 'lost', 2, 6) })
    await passFirstVersion()
  },
  async look(run) {
    const { arrived, isComplete } = await arrivals(run)
    if (isComplete && areOver(run)) return { results: { 'feed.lost': { status: 'passed' } }, isDone: true }
    return { progress: arrived.length + metFaults(run) * 100 }
  },
  late: (run) =>
    missed(
      run,
      'feed.lost',
      (ids) =>
        `What was in a response that was lost or cut was not asked for again (bookings ${ids}): move the position only after what was read is stored`,
    ),
}
