import { addDays, toDay } from '../../core/clock.ts'
import { toVersion } from '../../host-clock/format.ts'
import { book, makeGuest, type Place, setUnits } from '../../sandbox/scenarios/stage.ts'
import type { UnitNight } from '../../stays/capacity/units.ts'
import { readNights } from '../../stays/nights/nights.ts'
import type { Facts, LatePush, Next, NightsToPush, YearToPush } from '../model.ts'
import type { RequestRecord } from '../record/model.ts'
import { hasSucceeded } from '../record/recording.ts'
import {
  firstRefused,
  gradeRefusedResend,
  gradeRequestsAfterFault,
  hasRecovered,
  isFollowUpWindowOver,
  playedAt,
  requestsTo,
} from './grading.ts'
import { draw, roomTypesOf, stageOf } from './play.ts'
import {
  type CourseStep,
  failed,
  type PlayedRun,
  passed,
  type Run,
  requireNextAction,
  skipped,
} from './step.ts'

/** The route through which a product pushes units. */
const route = 'POST /sandbox/integrations/:provider/availability'
/** Number of nights, starting tomorrow, that a product is first asked to push. */
const yearDays = 365
/** Number of nights in each change that a product is asked to push. */
const nightsPerChange = 7
/** A number of units that exceeds a room type's maximum, so a push of this number is refused. */
const tooMany = 3_000_000_000

/** The steps for a product that keeps availability up to date. */
export const inventorySteps: CourseStep[] = [
  {
    name: 'year',
    cases: ['inventory.year', 'inventory.ranges'],
    manualRoute: route,
    next: async (run) => ({
      action: 'push_all',
      text: 'Push the units of every night of these room types',
      ...(await yearOf(run)),
    }),
    async check(run) {
      const nights = [...(await nightsOf(run, requireNextAction(run, 'push_all'))).values()]
      const pushed = nights.flat().filter(({ available }) => available !== null).length
      if (pushed < nights.flat().length || !hasPushedAll(run)) return { progress: pushed }
      const ranges = nights.reduce((total, ofOne) => total + rangesOf(ofOne), 0)
      const items = sum(pushes(run), 'items')
      const allowed = 2 * ranges + 10
      const because = `${items} items were sent although ${ranges} ranges of equal nights are enough (at most ${allowed} are allowed); send consecutive equal nights as one item`
      return {
        isDone: true,
        results: {
          'inventory.year': passed,
          'inventory.ranges': items <= allowed ? passed : failed(because, pushes(run)),
        },
      }
    },
    async late(run) {
      const nights = await nightsOf(run, requireNextAction(run, 'push_all'))
      const [gap] = [...nights].flatMap(([id, ofOne]) =>
        ofOne.filter(({ available }) => available === null).map(({ date }) => ({ id, date })),
      )
      const because = `Nights are missing, the first being ${gap?.date} of room type ${gap?.id}; push 365 days from tomorrow for every room type`
      return {
        'inventory.year': failed(because, pushes(run)),
        'inventory.ranges': skipped('Cannot be judged before the whole year is pushed'),
      }
    },
  },
  {
    name: 'change',
    cases: ['inventory.change'],
    ...asksForChange('change'),
    async check(run) {
      const nights = requestedChange(run)
      if (!(await isPushed(run, nights))) return { progress: pushes(run).length }
      const all = (await roomTypesOf(run)).length * yearDays
      const sent = sum(pushes(run), 'nights')
      const because = `${sent} nights were sent for a change of ${nightsPerChange}; send only the nights that changed`
      if (sent > all / 10)
        return {
          isDone: true,
          results: { 'inventory.change': failed(because, pushes(run)) },
          facts: withRequestedChange(run, nights),
        }
      if (!hasPushedAll(run)) return { progress: pushes(run).length }
      return {
        isDone: true,
        results: { 'inventory.change': passed },
        facts: withRequestedChange(run, nights),
      }
    },
  },
  {
    name: 'push-retry-after',
    cases: ['inventory.retry-after'],
    ...asksForChange('retry-after'),
    faults: ({ bounds }) => [{ fault: 'rate_limited', route, milliseconds: bounds.minRateLimitDuration }],
    async check(run) {
      const nights = requestedChange(run)
      if (!(await isPushed(run, nights)) || !hasRecovered(run, pushes(run)))
        return { progress: pushes(run).length }
      const result = gradeRequestsAfterFault(pushes(run), {
        fault: 'rate_limited',
        allowed: 1,
        because: (further) =>
          `After the first 429, ${further} more pushes were sent before \`Retry-After\` had passed`,
      })
      return {
        isDone: true,
        results: { 'inventory.retry-after': result },
        facts: withRequestedChange(run, nights),
      }
    },
  },
  {
    name: 'push-refused',
    cases: ['inventory.refused'],
    ...asksForChange('refused'),
    async next(run) {
      const nights = await drawNights(run, 'refused')
      return pushAction({ ...nights, available: tooMany }, 'Push this number of units, which is too large')
    },
    async check(run) {
      const first = firstRefused(pushes(run))
      // A product that knows the limit sends nothing.
      if (!first && Number(run.now) - Number(playedAt(run)) <= run.bounds.followed) return {}
      const nights = { ...requestedChange(run), available: 2 }
      const next = pushAction(nights, 'Push these units instead')
      const result = gradeRefusedResend(
        run,
        pushes(run),
        first,
        'A push that was refused with 422 was sent again unchanged; it will be refused again',
      )
      if (result && (await isPushed(run, nights)))
        return {
          isDone: true,
          results: { 'inventory.refused': result },
          facts: withRequestedChange(run, nights),
        }
      if (result?.status === 'failed') return { results: { 'inventory.refused': result }, next }
      return { next, progress: pushes(run).length }
    },
  },
  {
    name: 'push-late',
    cases: ['inventory.late'],
    ...asksForChange('late'),
    // A guest books between the count, which was made before the step, and its push.
    async prepare(run) {
      const as_of = toVersion(run.certification.step.memo.after)
      return { late: { ...(await drawNights(run, 'late')), as_of } }
    },
    play: bookBeforePush,
    next: (run) =>
      pushAction(
        latePushOf(run),
        'Push these units, which were counted when the booking feed had ended at `as_of`',
      ),
    async check(run) {
      const { as_of: _, ...nights } = latePushOf(run)
      const units = await unitsOf(run, nights)
      const haveLeft = (left: number) => units.every((night) => night.left === left)
      const isWaiting = units.some(({ available }) => available === unitsBeforePush(nights))
      if (isWaiting) return { progress: pushes(run).length }
      if (haveLeft(nights.available - 1)) {
        const asked = { ...nights, available: nights.available - 1 }
        return {
          isDone: true,
          results: { 'inventory.late': passed },
          facts: withRequestedChange(run, asked),
        }
      }
      if (!haveLeft(nights.available)) return { progress: pushes(run).length }
      const because = `A guest booked the nights from ${nights.start_date} after these units were counted, and the push did not say so: they can be booked again; send the version up to which you counted as \`as_of\``
      return {
        isDone: true,
        results: { 'inventory.late': failed(because, pushes(run)) },
        facts: withRequestedChange(run, nights),
      }
    },
  },
  {
    name: 'left',
    cases: ['inventory.left'],
    next: { action: 'wait', text: 'The nights are being compared' },
    async check(run) {
      const everything = run.certification.facts.asked ?? []
      if (everything.length === 0)
        return { isDone: true, results: { 'inventory.left': skipped('Nothing was pushed') } }
      const because = await firstDifference(run, everything)
      return { isDone: true, results: { 'inventory.left': because ? failed(because) : passed } }
    },
  },
]

/** Returns the fields shared by the steps that ask a product to push a change. */
function asksForChange(draws: string) {
  return {
    manualRoute: route,
    next: async (run) => pushAction(await drawNights(run, draws)),
    late: (run) => {
      const { room_type_id, start_date, available } = requestedChange(run)
      return `The nights of room type ${room_type_id} from ${start_date} do not have ${available} units`
    },
  } satisfies Partial<CourseStep>
}

/** Returns the push that arrives after a booking which it does not know. */
function latePushOf({ certification }: Run): LatePush {
  const { late } = certification.step.memo
  if (!late) throw new Error('The step has no late push')
  return late
}

/** Returns the number of units of the nights until the product pushes them, so that its push is noticed. */
function unitsBeforePush({ available }: NightsToPush): number {
  return available + 1
}

/** Books the nights of the late push for a guest. Running this twice is harmless. */
async function bookBeforePush(run: Run): Promise<void> {
  const { as_of: _, start_date, end_date, available, ...place } = latePushOf(run)
  const nights = { ...place, start_date, end_date, available }
  const before = unitsBeforePush(nights)
  const units = await unitsOf(run, nights)
  if (units.every((night) => night.available === before && night.left === available)) return
  const stay = { checkin_at: start_date, checkout_at: addDays(end_date, 1) }
  const stage = stageOf(run)
  await setUnits(stage, place, stay, before)
  await book(stage, { user_id: await makeGuest(stage), place, stay })
}

/** Returns the change that the step asks for. */
function requestedChange(run: Run): NightsToPush {
  const { action: _, text: __, ...nights } = requireNextAction(run, 'push_change')
  return nights
}

/** Returns the requested changes plus the given change. All of them are checked at the end of the course. */
function withRequestedChange(run: Run, nights: NightsToPush): Facts {
  return { asked: [...(run.certification.facts.asked ?? []), nights] }
}

function pushAction(
  nights: NightsToPush & Partial<LatePush>,
  text = 'Push the new units of these nights',
): Next {
  return { action: 'push_change', text, ...nights }
}

function pushes(run: PlayedRun): RequestRecord[] {
  return requestsTo(run.records, route)
}

/** Returns the total number of items or nights in the successful pushes. */
function sum(records: RequestRecord[], field: 'items' | 'nights'): number {
  return records.filter(hasSucceeded).reduce((total, record) => total + record[field], 0)
}

/**
 * Returns true if the last successful push was answered more than `bounds.silence` ago, so no further push is expected.
 * Pushed nights become visible shortly before their request is recorded, so an earlier count could miss requests.
 */
function hasPushedAll(run: PlayedRun): boolean {
  const last = pushes(run).findLast(hasSucceeded)
  return last !== undefined && isFollowUpWindowOver(run, last)
}

/** Returns the nights that a product is asked to push: `yearDays` nights starting tomorrow, for every room type. */
async function yearOf(run: Run): Promise<YearToPush> {
  const tomorrow = addDays(toDay(run.app.clock(run.certification.sandbox_id)), 1)
  return {
    room_types: await roomTypesOf(run),
    start_date: tomorrow,
    end_date: addDays(tomorrow, yearDays - 1),
  }
}

/** Returns the nights' current units, by room type id. */
function nightsOf({ app, certification }: Run, { room_types, start_date, end_date }: YearToPush) {
  const ids = room_types.map(({ room_type_id }) => room_type_id)
  return readNights(app, certification.sandbox_id, ids, { from: start_date, to: end_date })
}

/** Returns the number of ranges of consecutive nights with equal units, which is the minimum number of items needed. */
function rangesOf(nights: UnitNight[]): number {
  return nights.filter(({ available }, index) => index === 0 || nights[index - 1]?.available !== available)
    .length
}

/** Draws nights for a product to change, and a number of units that none of these nights has. */
async function drawNights(run: Run, name: string): Promise<NightsToPush> {
  const { room_types, start_date } = await yearOf(run)
  const [place] = room_types.slice(draw(run, `${name}/place`, 0, room_types.length - 1)) as [Place]
  const first = addDays(start_date, draw(run, `${name}/night`, 10, yearDays - nightsPerChange - 1))
  const nights = { ...place, start_date: first, end_date: addDays(first, nightsPerChange - 1) }
  const present = new Set((await unitsOf(run, nights)).map(({ available }) => available))
  const available = [3, 4, 5, 6, 7, 8, 9, 10].find((units) => !present.has(units)) as number
  return { ...nights, available }
}

/** Returns the nights' current units. */
async function unitsOf(run: Run, nights: Omit<NightsToPush, 'available'>) {
  const { listing_id, room_type_id, start_date, end_date } = nights
  const units = await nightsOf(run, { room_types: [{ listing_id, room_type_id }], start_date, end_date })
  return units.get(room_type_id) ?? []
}

/** Returns true if all the nights have the requested units. */
async function isPushed(run: Run, nights: NightsToPush): Promise<boolean> {
  return (await unitsOf(run, nights)).every(({ available }) => available === nights.available)
}

/**
 * Describes the first night whose number of units left differs from the number last requested. Returns null if there is
 * no such night.
 */
async function firstDifference(run: Run, everything: NightsToPush[]): Promise<string | null> {
  const last = new Map<string, { room_type_id: number; available: number; night: UnitNight }>()
  for (const { available, ...nights } of everything)
    for (const night of await unitsOf(run, nights))
      last.set(`${nights.room_type_id}/${night.date}`, { ...nights, available, night })
  const wrong = [...last.values()].find(({ available, night }) => night.left !== available)
  if (!wrong) return null
  const { room_type_id, available, night } = wrong
  return `Room type ${room_type_id} has ${night.left} units left on ${night.date}, not ${available}`
}
