import { readHostClock } from '../../host-clock/store.ts'
import type { Facts, Next } from '../model.ts'
import type { RequestRecord } from '../record/model.ts'
import { hasSucceeded, feedRoute as route } from '../record/recording.ts'
import { findRecords } from '../record/store.ts'
import { arrivals, checkArrivals, gradeMissedBookings, missingArrivals, syncProgress } from './arrivals.ts'
import type { CaseName } from './cases.ts'
import {
  areFaultsOver,
  gradeRequestsAfterFault,
  hasRecovered,
  isFromBeginning,
  playedAt,
  requestsTo,
  withoutAutomaticRetries,
} from './grading.ts'
import { draw, passFirstVersion, playScenario } from './play.ts'
import {
  askToStart,
  askToWait,
  type CourseStep,
  failed,
  type PlayedRun,
  passed,
  type Result,
  skipped,
} from './step.ts'

/** Maximum number of times that the feed may be read from its beginning after the first sync. */
const maxBeginnings = 2
const maxReadsOfErrors = 6
const maxReadsOfQuietMinute = 13

/** The steps for a product that reads the feed. */
export const feedSteps: CourseStep[] = [
  {
    name: 'first-sync',
    cases: ['feed.pages'],
    manualRoute: route,
    next: askToStart,
    async check(run) {
      const { wanted, arrived, listings } = await syncProgress(run)
      const facts = { ...paceSoFar(run), syncedAfter: run.lastOrdinal }
      if (arrived < wanted) return { progress: arrived, facts }
      return { isDone: true, results: { 'feed.pages': passed }, facts: { ...facts, listings } }
    },
    missing: async (run) => (await syncProgress(run)).missing,
    async late(run) {
      const { wanted, arrived } = await syncProgress(run)
      return `Only ${arrived} of ${wanted} bookings were read; do not filter them out, and follow the pages until \`last_page\`, or \`next_cursor\` until it is null`
    },
  },
  waitForClock('calm', askToWait),
  {
    name: 'changes',
    cases: ['feed.changes'],
    next: askToWait,
    async play(run) {
      await playScenario(run, 'host-confirms')
      await playScenario(run, 'guest-cancels')
      await playScenario(run, 'cancelled-before-seen')
      await playScenario(run, 'changed-within-a-second')
      await playScenario(run, 'guest-books', { count: draw(run, 'burst', 20, 40) })
    },
    check: async (run) => ({ ...(await checkArrivals(run, 'feed.changes')), facts: paceSoFar(run) }),
    missing: missingArrivals,
    late: (run) =>
      gradeMissedBookings(
        run,
        'feed.changes',
        (ids, count) =>
          `${count} changes were not read (bookings ${ids}); continue after the page's last \`version\`, not after a time from your own clock`,
      ),
  },
  {
    name: 'retry-after',
    cases: ['feed.retry-after'],
    next: askToWait,
    faults({ bounds, certification: { facts } }) {
      const duration = Math.max(bounds.minRateLimitDuration, 2.5 * (facts.pace ?? 0))
      return [{ fault: 'rate_limited', route, milliseconds: Math.min(bounds.maxRateLimitDuration, duration) }]
    },
    async check(run) {
      if (!hasRecovered(run, reads(run))) return { progress: reads(run).length }
      const result = gradeRequestsAfterFault(reads(run), {
        fault: 'rate_limited',
        allowed: 1,
        because: (further) =>
          `After the first 429, the feed was read ${further} more times before \`Retry-After\` had passed`,
      })
      return { isDone: true, results: { 'feed.retry-after': result } }
    },
    late: () => 'After the 429, the feed was not read again',
  },
  {
    name: 'errors',
    cases: ['feed.errors'],
    next: askToWait,
    faults: ({ bounds: { errorDuration: milliseconds } }) => [
      { fault: 'internal_error', route, milliseconds },
      { fault: 'bad_gateway', route, milliseconds },
    ],
    async check(run) {
      if (!hasRecovered(run, reads(run))) return { progress: reads(run).length }
      const readsWithFault = (fault: string) => reads(run).filter((record) => record.fault === fault)
      const badGateway = readsWithFault('bad_gateway')
      const internalError = readsWithFault('internal_error')
      const worst = internalError.length > badGateway.length ? internalError : badGateway
      const because = `The feed was read ${worst.length} times while it failed for ten seconds; wait longer after each failure`
      return {
        isDone: true,
        results: { 'feed.errors': worst.length <= maxReadsOfErrors ? passed : failed(because, worst) },
      }
    },
    late: () => 'After the errors the feed was not read again',
  },
  waitForClock('calm', askToWait),
  {
    name: 'lost',
    cases: ['feed.lost'],
    next: askToWait,
    faults: ({ bounds: { lossDuration: milliseconds } }) => [
      { fault: 'lost_response', route, milliseconds },
      { fault: 'cut_response', route, milliseconds },
    ],
    async play(run) {
      await playScenario(run, 'guest-books', { count: draw(run, 'lost', 2, 6) })
      await passFirstVersion()
    },
    async check(run) {
      const { arrived, isComplete } = await arrivals(run)
      if (isComplete && areFaultsOver(run)) return { isDone: true, results: { 'feed.lost': passed } }
      const met = run.faults.filter(({ until }) => until !== null).length
      return { progress: arrived.length + met * 100 }
    },
    missing: missingArrivals,
    late: (run) =>
      gradeMissedBookings(
        run,
        'feed.lost',
        (ids) =>
          `The bookings in a lost or cut response were not requested again (bookings ${ids}); move the position only after the page has been stored`,
      ),
  },
  {
    name: 'unauthorized',
    cases: ['feed.unauthorized'],
    next: askToWait,
    faults: ({ bounds }) => [{ fault: 'unauthorized', route, milliseconds: bounds.expiry }],
    async check(run) {
      const met = reads(run).filter(({ fault }) => fault === 'unauthorized')
      if (met.length === 0) return { progress: reads(run).length }
      const result = gradeRequestsAfterFault(met, {
        fault: 'unauthorized',
        allowed: 3,
        because: (further) =>
          `After the first 401, the feed was read ${further} more times; stop and alert an operator`,
      })
      const isOver = result.status === 'failed' || isSilent(run)
      return isOver ? { isDone: true, results: { 'feed.unauthorized': result } } : { progress: met.length }
    },
    late: () => 'The feed was not read',
  },
  {
    name: 'start-again',
    cases: [],
    next: {
      action: 'start',
      text: 'The key works again; start the product with its stored data, unless it is still running',
    },
    check: async (run) => ({
      isDone: reads(run).some((read) => hasSucceeded(read) && read.at >= playedAt(run)),
    }),
  },
  {
    name: 'stop',
    cases: [],
    next: {
      action: 'stop',
      text: 'Kill the product as in a crash (SIGKILL), and keep its stored data',
    },
    check: async (run) => ({ isDone: isSilent(run) }),
  },
  waitForClock('calm-stop', {
    action: 'wait',
    text: 'Leave the product stopped, for up to four minutes',
  }),
  {
    name: 'restart',
    cases: ['feed.restart'],
    manualRoute: route,
    next: { action: 'start', text: 'Start the product again with its stored data' },
    async play(run) {
      await playScenario(run, 'guest-books', { count: draw(run, 'restart', 3, 9) })
      await playScenario(run, 'guest-cancels')
      await passFirstVersion()
    },
    async check(run) {
      const findings = await checkArrivals(run, 'feed.restart')
      const first = reads(run).find(({ at, is_page }) => is_page && at >= playedAt(run))
      const result = first ? await gradeFirstRead(run, first) : null
      return result ? { ...findings, results: { 'feed.restart': result } } : findings
    },
    missing: missingArrivals,
    late: (run) =>
      gradeMissedBookings(
        run,
        'feed.restart',
        (ids, count) => `${count} changes made during the stop were not read (bookings ${ids})`,
      ),
  },
  {
    name: 'pace',
    cases: ['feed.pace', 'feed.continues'],
    next: {
      action: 'wait',
      text: 'Leave the product running for a minute without changes; the course continues by itself',
    },
    async check(run) {
      const until = new Date(playedAt(run).getTime() + run.bounds.quiet)
      if (run.now < until) return {}
      const seen = reads(run).filter(({ is_first, at }) => is_first && at >= playedAt(run) && at <= until)
      const tooMany = `The first page was read ${seen.length} times in a minute without changes; use \`wait\`, or pause for five seconds between reads`
      const again = await readsFromBeginning(run)
      const fromStart = `The feed was read from its beginning ${again.length} times after the first sync; continue after the last \`version\``
      return {
        isDone: true,
        results: {
          'feed.pace': seen.length <= maxReadsOfQuietMinute ? passed : failed(tooMany, seen),
          'feed.continues': again.length <= maxBeginnings ? passed : failed(fromStart, again),
        },
      }
    },
  },
  {
    name: 'state',
    cases: ['feed.state'],
    next: {
      action: 'upload_state',
      text: 'Upload the bookings that the product holds, each with its status and dates',
    },
    async check({ certification: { cases, step } }) {
      const { judged } = step.memo
      if (!judged) return {}
      if (judged.length === 0) return { isDone: true, results: { 'feed.state': passed } }
      const others = cases.filter(({ name, status }) => incomplete.includes(name) && status !== 'passed')
      const names = others.map(({ name }) => name).join(', ')
      const result = names ? skipped(`Cannot be judged while ${names} failed`) : failed(judged.join('; '))
      return { isDone: true, results: { 'feed.state': result } }
    },
  },
]

/** Cases whose failure explains a wrong state. */
const incomplete: CaseName[] = ['feed.pages', 'feed.changes', 'feed.lost', 'feed.restart']

/**
 * Returns a step that waits until the clock has caught up with the versions. Versions are at least a second apart, so a
 * burst of changes moves them ahead of the clock. While they are ahead, a product that continues from its own clock
 * misses nothing, so its mistake would go unnoticed.
 */
function waitForClock(name: string, next: Next): CourseStep {
  return {
    name,
    cases: [],
    next,
    async check({ app, bounds, certification: { sandbox_id, step }, now }) {
      const isOver = now.getTime() - step.began_at.getTime() > bounds.catchUp
      return { isDone: isOver || (await readHostClock(app.db, sandbox_id)) < now }
    },
  }
}

/** Returns the requests to the feed since the step began. */
function reads(run: PlayedRun): RequestRecord[] {
  return requestsTo(run.records, route)
}

/**
 * Returns the product's pace so far, which is the longest pause between the response to one feed request and the
 * arrival of the next. Used only in steps without stops and faults, which would distort the pace.
 */
function paceSoFar(run: PlayedRun): Facts {
  let pace = run.certification.facts.pace ?? 0
  let answered: number | null = null
  for (const { at, answered_at } of reads(run)) {
    if (answered !== null) pace = Math.max(pace, at.getTime() - answered)
    answered = Math.max(answered ?? 0, answered_at.getTime())
  }
  return { pace }
}

/** Returns true if the product counts as stopped because it has not read the feed for a while; see `bounds.silence`. */
function isSilent(run: PlayedRun): boolean {
  const { bounds, certification, now } = run
  const silence = Math.max(bounds.silence, 2 * (certification.facts.pace ?? 0))
  const last = Math.max(Number(playedAt(run)), ...reads(run).map(({ answered_at }) => Number(answered_at)))
  return now.getTime() - last >= Math.min(bounds.longestSilence, silence)
}

/** Returns the requests that read the feed from its beginning after the first sync. */
async function readsFromBeginning({ app, bounds, certification }: PlayedRun): Promise<RequestRecord[]> {
  const { _id, facts, started_at } = certification
  const records = await findRecords(app.db, _id, facts.syncedAfter ?? 0)
  return withoutAutomaticRetries(records, bounds.runtime).filter(
    (record) => record.operation === route && isFromBeginning(record, started_at),
  )
}

/** Grades the first page requested after a stop. Returns null if the request continues from a position. */
async function gradeFirstRead(run: PlayedRun, first: RequestRecord): Promise<Result | null> {
  if (!isFromBeginning(first, run.certification.started_at)) return null
  // A product that always reads everything fails `feed.continues` instead.
  if ((await readsFromBeginning(run)).length > maxBeginnings)
    return skipped('The product reads from the beginning each time; see `feed.continues`')
  const because =
    'After the restart, the product read the feed from the beginning; store the position together with the bookings'
  return failed(because, [first])
}
