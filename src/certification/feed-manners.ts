import { gradeFurther, hasRecovered } from './faults.ts'
import { beginnings, isSilent, maxBeginnings, reads, route } from './feed-reads.ts'
import { wait } from './next.ts'
import type { CourseStep } from './step.ts'

/** The step that grades whether a product waits after a 429. */
export const retryAfter: CourseStep = {
  name: 'retry-after',
  profile: 'feed',
  cases: ['feed.retry-after'],
  next: wait,
  faults: ({ bounds, certification: { pace } }) => [
    {
      fault: 'rate_limited',
      route,
      milliseconds: Math.min(bounds.limitedAtMost, Math.max(bounds.limitedAtLeast, 2.5 * pace)),
    },
  ],
  async look(run) {
    if (!hasRecovered(run, reads(run))) return { progress: reads(run).length }
    const result = gradeFurther(reads(run), {
      fault: 'rate_limited',
      allowed: 1,
      because: (further) =>
        `After the first 429 the feed was read ${further} more times before \`Retry-After\` was over`,
    })
    return { results: { 'feed.retry-after': result }, isDone: true }
  },
  late: () => 'After the 429 the feed was not read again',
}

/** The step that grades whether a product backs off while the feed fails with 500 and 502. */
export const errors: CourseStep = {
  name: 'errors',
  profile: 'feed',
  cases: ['feed.errors'],
  next: wait,
  faults: ({ bounds: { failing: milliseconds } }) => [
    { fault: 'internal_error', route, milliseconds },
    { fault: 'bad_gateway', route, milliseconds },
  ],
  async look(run) {
    if (!hasRecovered(run, reads(run))) return { progress: reads(run).length }
    const of = (fault: string) => reads(run).filter((record) => record.fault === fault)
    const [internal, gateway] = [of('internal_error'), of('bad_gateway')]
    const worst = internal.length > gateway.length ? internal : gateway
    const because = `The feed was read ${worst.length} times while it failed for ten seconds: wait longer after each failure`
    return {
      results: {
        'feed.errors': worst.length <= 6 ? { status: 'passed' } : { status: 'failed', because, seen: worst },
      },
      isDone: true,
    }
  },
  late: () => 'After the errors the feed was not read again',
}

/** The step that grades whether a product stops after a 401. */
export const unauthorized: CourseStep = {
  name: 'unauthorized',
  profile: 'feed',
  cases: ['feed.unauthorized'],
  next: wait,
  faults: ({ bounds }) => [{ fault: 'unauthorized', route, milliseconds: bounds.expiry }],
  async look(run) {
    const met = reads(run).filter(({ fault }) => fault === 'unauthorized')
    const result = gradeFurther(reads(run), {
      fault: 'unauthorized',
      allowed: 3,
      because: (further) =>
        `After the first 401 the feed was read ${further} more times: stop, and tell somebody`,
    })
    if (met.length === 0) return { progress: reads(run).length }
    const isOver = result.status === 'failed' || isSilent(run)
    return isOver ? { results: { 'feed.unauthorized': result }, isDone: true } : { progress: met.length }
  },
  late: () => 'The feed was not read',
}

const maxReadsOfQuietMinute = 13

/** The step that grades the reads during a quiet minute and all reads from the beginning since the first sync. */
export const pace: CourseStep = {
  name: 'pace',
  profile: 'feed',
  cases: ['feed.pace', 'feed.continues'],
  serve: ({ serve, quiet }) => serve + quiet,
  next: wait,
  async look(run) {
    const until = run.playedAt.getTime() + run.bounds.quiet
    if (run.now.getTime() < until) return {}
    const seen = reads(run).filter(
      ({ is_first, at }) => is_first && at >= run.playedAt && at.getTime() <= until,
    )
    const tooMany = `The first page was read ${seen.length} times in a quiet minute: wait with \`wait\`, or five seconds between reads`
    const again = await beginnings(run)
    const fromStart = `The feed was read from its beginning ${again.length} times after the first sync: go on after the last \`version\``
    return {
      results: {
        'feed.pace':
          seen.length <= maxReadsOfQuietMinute
            ? { status: 'passed' }
            : { status: 'failed', because: tooMany, seen },
        'feed.continues':
          again.length <= maxBeginnings
            ? { status: 'passed' }
            : { status: 'failed', because: fromStart, seen: again },
      },
      isDone: true,
    }
  },
  late: () => '',
}
