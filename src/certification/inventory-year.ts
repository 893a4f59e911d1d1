import { addDays, toDay } from '../core/clock.ts'
import { findRoomTypesPage } from '../inventory/listings/room-types-store.ts'
import type { UnitNight } from '../stays/bookings/units.ts'
import { readNights } from '../stays/nights/read-nights.ts'
import { isLongSince } from './faults.ts'
import type { RequestRecord } from './model.ts'
import { isGood, ofOperation, operations } from './reads.ts'
import type { CourseStep, Run } from './step.ts'

/** The route through which a product pushes units. */
export const route = operations.availability

/** Returns the pushes since the step began. */
export const pushes = (run: Run) => ofOperation(run, route)

/** Returns the total number of items or nights in the successful pushes. */
export const sum = (records: RequestRecord[], of: 'items' | 'nights') =>
  records.filter(isGood).reduce((total, record) => total + record[of], 0)

/**
 * True if the last successful push was answered more than `bounds.silence` ago, so no further one is expected. Pushed
 * nights become visible a moment before their request is recorded, so an earlier count could miss requests.
 */
export function isAll(run: Run): boolean {
  const last = pushes(run).findLast(isGood)
  return last !== undefined && isLongSince(run, last)
}

/** Number of nights that a product pushes, starting tomorrow. */
export const yearDays = 365

/** Returns the nights that a product is asked to push: `yearDays` nights starting tomorrow, for every room type. */
export async function yearOf({ app, hostId }: Pick<Run, 'app' | 'hostId'>) {
  const page = { page: 1, perPage: 100 }
  const wanted = { listingId: undefined, roomTypeId: undefined }
  const { listings } = await findRoomTypesPage(app.db, hostId, wanted, page)
  const room_types = listings.flatMap(({ listingId, roomTypeIds }) =>
    roomTypeIds.map((room_type_id) => ({ listing_id: listingId, room_type_id })),
  )
  const tomorrow = addDays(toDay(app.clock(hostId)), 1)
  return { room_types, start_date: tomorrow, end_date: addDays(tomorrow, yearDays - 1) }
}

export type Year = Awaited<ReturnType<typeof yearOf>>

function nightsOf({ app, hostId }: Run, { room_types, start_date, end_date }: Year) {
  const ids = room_types.map(({ room_type_id }) => room_type_id)
  return readNights(app.db, hostId, ids, { from: start_date, to: end_date })
}

/** Returns the number of ranges of consecutive nights with equal units, which is the minimum number of items needed. */
function runsOf(nights: UnitNight[]): number {
  return nights.filter(({ available }, index) => index === 0 || nights[index - 1]?.available !== available)
    .length
}

/** The step in which the product pushes every night of the year using few items. */
export const year: CourseStep = {
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
