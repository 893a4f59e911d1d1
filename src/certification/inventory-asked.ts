import { addDays } from '../core/clock.ts'
import type { UnitNight } from '../stays/bookings/units.ts'
import { readNights } from '../stays/nights/read-nights.ts'
import { route, type Year, yearDays, yearOf } from './inventory-year.ts'
import type { Next } from './next.ts'
import { type CourseStep, draw, type Run } from './step.ts'

/** The nights that a product is asked to change, and their new units. */
export interface Asked {
  listing_id: number
  room_type_id: number
  start_date: string
  end_date: string
  available: number
}

/** Number of nights in each change that a product is asked to push. */
export const askedNights = 7

/** Draws nights for a product to change, and a number of units that none of them has yet. */
export async function ask(run: Run, name: string): Promise<Asked> {
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

/** Returns the current units of the nights. */
export async function askedUnits(
  { app, hostId }: Run,
  { room_type_id, start_date, end_date }: Omit<Asked, 'available'>,
): Promise<UnitNight[]> {
  const nights = await readNights(app.db, hostId, [room_type_id], { from: start_date, to: end_date })
  return nights.get(room_type_id) ?? []
}

/** True if all the nights have the requested units. */
export async function isAsAsked(run: Run, asked: Asked): Promise<boolean> {
  return (await askedUnits(run, asked)).every(({ available }) => available === asked.available)
}

/** Returns the action that asks the product to push a change. */
export const pushChange = (asked: Asked, text = 'Push the new units of these nights'): Next => ({
  action: 'push_change',
  text,
  ...asked,
})

const notPushed = ({ memo }: Run) => {
  const { room_type_id, start_date, available } = memo.asked as Asked
  return `The nights from ${start_date} on of room type ${room_type_id} do not have ${available} units`
}

/** Returns all changes asked for so far, including this step's, for the comparison at the end of the course. */
export function noteAsked({ certification, memo }: Run) {
  const { asked = [] } = certification.facts as { asked?: Asked[] }
  return { asked: [...asked, memo.asked as Asked] }
}

/** Returns the common parts of the steps that ask a product to push a change. */
export const asksFor = (draws: string) =>
  ({
    profile: 'inventory',
    byHand: [route],
    prepare: async (run) => ({ asked: await ask(run, draws) }),
    next: ({ memo }) => pushChange(memo.asked as Asked),
    late: notPushed,
  }) satisfies Partial<CourseStep>
