import { daysBetween } from '../core/clock.ts'
import type { UnitNight } from '../stays/bookings/units.ts'
import { firstRefused, gradeFurther, gradeRepeated, hasRecovered } from './faults.ts'
import {
  type Asked,
  ask,
  askedNights,
  askedUnits,
  asksFor,
  isAsAsked,
  noteAsked,
  pushChange,
} from './inventory-asked.ts'
import { isAll, pushes, route, sum, year, yearOf } from './inventory-year.ts'
import type { CourseStep, Result, Run } from './step.ts'

/** More units than a room type can have. Pushing this many is refused. */
const tooMany = 3_000_000_000

const change: CourseStep = {
  ...asksFor('change'),
  name: 'change',
  cases: ['inventory.change'],
  async look(run) {
    if (!(await isAsAsked(run, run.memo.asked as Asked))) return { progress: pushes(run).length }
    const { room_types, start_date, end_date } = await yearOf(run)
    const all = room_types.length * (daysBetween(start_date, end_date) + 1)
    const sent = sum(pushes(run), 'nights')
    const because = `${sent} nights were sent for a change of ${askedNights}: send those that changed`
    const isTooMuch = sent > all / 10
    if (!isTooMuch && !isAll(run)) return { progress: pushes(run).length }
    const result: Result = isTooMuch ? { status: 'failed', because, seen: pushes(run) } : { status: 'passed' }
    return { results: { 'inventory.change': result }, isDone: true, facts: noteAsked(run) }
  },
}

const retryAfter: CourseStep = {
  ...asksFor('retry-after'),
  name: 'push-retry-after',
  cases: ['inventory.retry-after'],
  faults: ({ bounds }) => [{ fault: 'rate_limited', route, milliseconds: bounds.limitedAtLeast }],
  async look(run) {
    const isPushed = await isAsAsked(run, run.memo.asked as Asked)
    if (!isPushed || !hasRecovered(run, pushes(run))) return { progress: pushes(run).length }
    const result = gradeFurther(pushes(run), {
      fault: 'rate_limited',
      allowed: 1,
      because: (further) =>
        `After the first 429, ${further} more pushes came before \`Retry-After\` was over`,
    })
    return { results: { 'inventory.retry-after': result }, isDone: true, facts: noteAsked(run) }
  },
}

const refused: CourseStep = {
  ...asksFor('refused'),
  name: 'push-refused',
  cases: ['inventory.refused'],
  prepare: async (run) => ({ asked: { ...(await ask(run, 'refused')), available: 2 } }),
  next: ({ memo }) =>
    pushChange({ ...(memo.asked as Asked), available: tooMany }, 'Push these units, which are too many'),
  async look(run) {
    const asked = run.memo.asked as Asked
    const first = firstRefused(pushes(run))
    // A product that knows the limit itself sends nothing.
    const isTold = first || run.now.getTime() - run.playedAt.getTime() > run.bounds.followed
    if (!isTold) return {}
    const next = pushChange(asked, 'Push these units instead')
    const result = gradeRepeated(
      run,
      pushes(run),
      first,
      'What was refused with 422 was sent again unchanged: it will be refused again',
    )
    const isDone = result !== null && (await isAsAsked(run, asked))
    if (result === null || (result.status === 'passed' && !isDone))
      return { next, progress: pushes(run).length }
    return {
      results: { 'inventory.refused': result },
      next,
      isDone,
      ...(isDone ? { facts: noteAsked(run) } : {}),
    }
  },
}

const left: CourseStep = {
  name: 'left',
  profile: 'inventory',
  cases: ['inventory.left'],
  next: { action: 'wait', text: 'The nights are compared' },
  async look(run) {
    const { asked = [] } = run.certification.facts as { asked?: Asked[] }
    if (asked.length === 0)
      return {
        results: { 'inventory.left': { status: 'skipped', because: 'Nothing was pushed' } },
        isDone: true,
      }
    const wrong = await firstWrong(run, asked)
    const result: Result = wrong
      ? {
          status: 'failed',
          because: `Room type ${wrong.room_type_id} has ${wrong.left} units left on ${wrong.date}, not ${wrong.available}`,
        }
      : { status: 'passed' }
    return { results: { 'inventory.left': result }, isDone: true }
  },
  late: () => '',
}

/** Returns the first night whose units left differ from the last requested number, or null. */
async function firstWrong(run: Run, asked: Asked[]) {
  const last = new Map<string, Asked>()
  const units = new Map<string, UnitNight>()
  for (const one of asked)
    for (const night of await askedUnits(run, one)) {
      const name = `${one.room_type_id}/${night.date}`
      last.set(name, one)
      units.set(name, night)
    }
  for (const [name, { room_type_id, available }] of last) {
    const { date, left } = units.get(name) as UnitNight
    if (left !== available) return { room_type_id, date, left, available }
  }
  return null
}

/** The steps for a product that keeps availability up to date. */
export const inventorySteps: CourseStep[] = [year, change, retryAfter, refused, left]
