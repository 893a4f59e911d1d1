import { errors, pace, retryAfter, unauthorized } from './feed-manners.ts'
import {
  arrivals,
  beginnings,
  isSilent,
  maxBeginnings,
  missed,
  reads,
  rememberClock,
  route,
} from './feed-reads.ts'
import { calm, calmStop, changes, firstSync, lost } from './feed-sync.ts'
import type { RequestRecord } from './model.ts'
import { passFirstVersion, play } from './play.ts'
import { isFromBeginning, isGood } from './reads.ts'
import { type CourseStep, draw, type Result, type Run } from './step.ts'

const startAgain: CourseStep = {
  name: 'start-again',
  profile: 'feed',
  cases: [],
  byHand: [],
  next: {
    action: 'start',
    text: 'The key is well again: start the product, unless it is running, with what it has stored',
  },
  async look(run) {
    return { isDone: reads(run).some((read) => isGood(read) && read.at >= run.playedAt) }
  },
  late: () => '',
}

const stop: CourseStep = {
  name: 'stop',
  profile: 'feed',
  cases: [],
  byHand: [],
  next: {
    action: 'stop',
    text: 'End the product as a crash does (SIGKILL), and leave what it has stored as it is',
  },
  look: async (run) => ({ isDone: isSilent(run) }),
  late: () => '',
}

const restart: CourseStep = {
  name: 'restart',
  profile: 'feed',
  cases: ['feed.restart'],
  byHand: [route],
  next: { action: 'start', text: 'Start the product again, with what it has stored' },
  prepare: rememberClock,
  async play(run) {
    await play(run, 'guest-books', { count: draw(run.certification.seed, 'restart', 3, 9) })
    await play(run, 'guest-cancels')
    await passFirstVersion()
  },
  async look(run) {
    const [first] = reads(run).filter(({ at, is_page }) => is_page && at >= run.playedAt)
    const { arrived, isComplete } = await arrivals(run)
    const result = first && (await gradeFirstRead(run, first))
    if (result) return { results: { 'feed.restart': result }, isDone: isComplete, progress: arrived.length }
    if (!isComplete) return { progress: arrived.length }
    return { results: { 'feed.restart': { status: 'passed' } }, isDone: true }
  },
  late: (run) =>
    missed(
      run,
      'feed.restart',
      (ids, count) => `${count} changes of the time of the stop were not read (bookings ${ids})`,
    ),
}

/** Grades the first read after a stop. Returns null if it continues from a position. */
async function gradeFirstRead(run: Run, first: RequestRecord): Promise<Result | null> {
  if (!isFromBeginning(first, run.certification.started_at)) return null
  // A product that always reads everything fails `feed.continues` instead.
  if ((await beginnings(run)).length > maxBeginnings)
    return {
      status: 'skipped',
      because: 'The product reads from the beginning each time: see `feed.continues`',
    }
  const because =
    'The first read after the start began at the beginning: store the position together with the bookings'
  return { status: 'failed', because, seen: [first] }
}

const state: CourseStep = {
  name: 'state',
  profile: 'feed',
  cases: ['feed.state'],
  byHand: [],
  next: {
    action: 'upload_state',
    text: 'Upload what the product holds: each booking with its status and its dates',
  },
  async look({ memo, certification: { cases } }) {
    const because = memo.judged as string[] | undefined
    if (!because) return {}
    const others = cases.filter(
      ({ name, status }) => incomplete.includes(name) && (status === 'failed' || status === 'skipped'),
    )
    const [problem] = because
    if (!problem) return { results: { 'feed.state': { status: 'passed' } }, isDone: true }
    const result: Result =
      others.length > 0
        ? {
            status: 'skipped',
            because: `It cannot be told while ${others.map(({ name }) => name).join(', ')} failed`,
          }
        : { status: 'failed', because: because.join('; ') }
    return { results: { 'feed.state': result }, isDone: true }
  },
  late: () => '',
}

/** Cases whose failure alone explains a wrong state. */
const incomplete = ['feed.pages', 'feed.changes', 'feed.lost', 'feed.restart']

/** The steps for a product that reads the feed. */
export const feedSteps: CourseStep[] = [
  firstSync,
  calm,
  changes,
  retryAfter,
  errors,
  calm,
  lost,
  unauthorized,
  startAgain,
  stop,
  calmStop,
  restart,
  pace,
  state,
]
