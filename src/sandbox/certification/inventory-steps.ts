import { addDays, daysBetween, toDay } from '../../core/clock.ts'
import { findRoomTypesPage } from '../../inventory/listings/room-types-store.ts'
import type { UnitNight } from '../../stays/bookings/units.ts'
import { readNights } from '../../stays/nights/read-nights.ts'
import { draw } from './draw.ts'
import { gradeFurther, gradeRepeated, hasRecovered, isLongSince } from './faults.ts'
import type { RequestRecord } from './model.ts'
import type { Next } from './next.ts'
import { isGood, ofOperation, operations } from './reads.ts'
import type { CourseStep, Result, Run } from './step.ts'

const route = operations.availability
const yearDays = 365
/** More units than a room type can have: refused. */
const tooMany = 3_000_000_000

const pushes = (run: Run) => ofOperation(run, route)
const sum = (records: RequestRecord[], of: 'items' | 'nights') =>
  records.filter(isGood).reduce((total, record) => total + record[of], 0)

/** True when what was pushed is all: nights are seen a moment before the request that pushed them is recorded. */
function isAll(run: Run): boolean {
  const last = pushes(run).findLast(isGood)
  return last !== undefined && isLongSince(run, last)
}

/** The nights that a product is to push: from tomorrow on, of every room type. */
async function yearOf({ app, hostId }: Pick<Run, 'app' | 'hostId'>) {
  const page = { page: 1, perPage: 100 }
  const wanted = { listingId: undefined, roomTypeId: undefined }
  const { listings } = await findRoomTypesPage(app.db, hostId, wanted, page)
  const room_types = listings.flatMap(({ listingId, roomTypeIds }) =>
    roomTypeIds.map((room_type_id) => ({ listing_id: listingId, room_type_id })),
  )
  const tomorrow = addDays(toDay(app.clock(hostId)), 1)
  return { room_types, start_date: tomorrow, end_date: addDays(tomorrow, yearDays - 1) }
}

type Year = Awaited<ReturnType<typeof yearOf>>

function nightsOf({ app, hostId }: Run, { room_types, start_date, end_date }: Year) {
  const ids = room_types.map(({ room_type_id }) => room_type_id)
  return readNights(app.db, hostId, ids, { from: start_date, to: end_date })
}

/** How often the units of following nights differ, plus one: as many ranges are enough. */
function runsOf(nights: UnitNight[]): number {
  return nights.filter(({ available }, index) => index === 0 || nights[index - 1]?.available !== available)
    .length
}

const year: CourseStep = {
  name: 'year',
  profile: 'inventory',
  cases: ['inventory.year', 'inventory.ranges'],
  byHand: [route],
  prepare: async (run) => ({ year: await yearOf(run) }),
  next: ({ memo }) => ({
    action: 'push_all',
    text: 'Push the units of every night of these room types',
    ...(memo.year as Year),
  }),
  async look(run) {
    const nights = [...(await nightsOf(run, run.memo.year as Year)).values()]
    const pushed = nights.flat().filter(({ available }) => available !== null).length
    if (pushed < nights.flat().length || !isAll(run)) return { progress: pushed }
    const runs = nights.reduce((total, ofOne) => total + runsOf(ofOne), 0)
    const items = sum(pushes(run), 'items')
    const allowed = 2 * runs + 10
    const because = `${items} items were sent where ${runs} ranges of equal nights are enough (at most ${allowed}): send following equal nights as one item`
    return {
      results: {
        'inventory.year': { status: 'passed' },
        'inventory.ranges':
          items <= allowed ? { status: 'passed' } : { status: 'failed', because, seen: pushes(run) },
      },
      isDone: true,
    }
  },
  async late(run) {
    const nights = await nightsOf(run, run.memo.year as Year)
    const [gap] = [...nights].flatMap(([id, ofOne]) =>
      ofOne.filter(({ available }) => available === null).map(({ date }) => ({ id, date })),
    )
    const because = `Nights are missing, the first of room type ${gap?.id} is ${gap?.date}: push 365 days from tomorrow on, of every room type`
    return {
      'inventory.year': { status: 'failed', because, seen: pushes(run) },
      'inventory.ranges': { status: 'skipped', because: 'It cannot be told before the whole year is pushed' },
    }
  },
}

/** Nights that a product is asked to change. */
interface Asked {
  listing_id: number
  room_type_id: number
  start_date: string
  end_date: string
  available: number
}

const askedNights = 7

/** Draws nights to be changed to units that none of them has. */
async function ask(run: Run, name: string): Promise<Asked> {
  const { seed } = run.certification
  const { room_types, start_date } = await yearOf(run)
  const place = room_types[draw(seed, `${name}/place`, 0, room_types.length - 1)]
  const first = addDays(start_date, draw(seed, `${name}/night`, 10, yearDays - askedNights - 1))
  const stay = {
    ...(place as Year['room_types'][0]),
    start_date: first,
    end_date: addDays(first, askedNights - 1),
  }
  const present = new Set((await askedUnits(run, stay)).map(({ available }) => available))
  const available = [3, 4, 5, 6, 7, 8, 9, 10].find((units) => !present.has(units)) as number
  return { ...stay, available }
}

async function askedUnits(
  { app, hostId }: Run,
  { room_type_id, start_date, end_date }: Omit<Asked, 'available'>,
): Promise<UnitNight[]> {
  const nights = await readNights(app.db, hostId, [room_type_id], { from: start_date, to: end_date })
  return nights.get(room_type_id) ?? []
}

async function isAsAsked(run: Run, asked: Asked): Promise<boolean> {
  return (await askedUnits(run, asked)).every(({ available }) => available === asked.available)
}

const pushChange = (asked: Asked, text = 'Push the new units of these nights'): Next => ({
  action: 'push_change',
  text,
  ...asked,
})

const notPushed = ({ memo }: Run) => {
  const { room_type_id, start_date, available } = memo.asked as Asked
  return `The nights from ${start_date} on of room type ${room_type_id} do not have ${available} units`
}

/** What was asked for so far, for the end. */
function noteAsked({ certification, memo }: Run) {
  const { asked = [] } = certification.facts as { asked?: Asked[] }
  return { asked: [...asked, memo.asked as Asked] }
}

const change: CourseStep = {
  name: 'change',
  profile: 'inventory',
  cases: ['inventory.change'],
  byHand: [route],
  prepare: async (run) => ({ asked: await ask(run, 'change') }),
  next: ({ memo }) => pushChange(memo.asked as Asked),
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
  late: notPushed,
}

const retryAfter: CourseStep = {
  name: 'push-retry-after',
  profile: 'inventory',
  cases: ['inventory.retry-after'],
  byHand: [route],
  prepare: async (run) => ({ asked: await ask(run, 'retry-after') }),
  next: ({ memo }) => pushChange(memo.asked as Asked),
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
  late: notPushed,
}

const refused: CourseStep = {
  name: 'push-refused',
  profile: 'inventory',
  cases: ['inventory.refused'],
  byHand: [route],
  prepare: async (run) => ({ asked: { ...(await ask(run, 'refused')), available: 2 } }),
  next: ({ memo }) =>
    pushChange({ ...(memo.asked as Asked), available: tooMany }, 'Push these units, which are too many'),
  async look(run) {
    const asked = run.memo.asked as Asked
    const [first] = pushes(run).filter(({ status }) => status === 422)
    // A product that knows the bound itself sends nothing.
    const isTold = first || run.now.getTime() - run.playedAt.getTime() > run.bounds.followed
    if (!isTold) return {}
    const next = pushChange(asked, 'Push these units instead')
    const result = gradeRepeated(
      run,
      pushes(run),
      first,
      'What was refused with 422 was sent again and again unchanged: it will be refused again',
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
  late: notPushed,
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

/** The first night that does not have the units that were last asked for, or null. */
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

/** What is played to a product that keeps availability up to date. */
export const inventorySteps: CourseStep[] = [year, change, retryAfter, refused, left]
