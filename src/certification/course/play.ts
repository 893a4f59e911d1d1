import { createHash } from 'node:crypto'
import { addDays } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { findRoomTypesPage } from '../../inventory/listings/room-types-store.ts'
import type { ScenarioName } from '../../sandbox/scenarios/names.ts'
import { type PreparedScenario, scenarios } from '../../sandbox/scenarios/scenarios.ts'
import type { ScenarioParameters } from '../../sandbox/scenarios/schema.ts'
import {
  type Place,
  placesFor,
  type Stage,
  type StayDates,
  setUnits,
  stayFrom,
} from '../../sandbox/scenarios/stage.ts'
import type { Run } from './step.ts'

/**
 * Plays a scenario in a certification's sandbox. All changes are visible once the promise resolves. Guests book only
 * stays that have units left. If there is no suitable booking, a guest first books a stay.
 */
export async function playScenario(
  run: Run,
  name: ScenarioName,
  parameters: ScenarioParameters = {},
): Promise<void> {
  const stage = stageOf(run)
  const scenario = scenarios.find((known) => known.name === name)
  if (!scenario) throw new Error(`There is no scenario "${name}"`)
  const prepare = async (): Promise<PreparedScenario> => {
    if (!scenario.parameters.includes('checkin_at')) return scenario.prepare(stage, parameters)
    const { stay } = await findOpenStay(run, stayFrom(stage, null).checkin_at, parameters.count ?? 1)
    return scenario.prepare(stage, { ...parameters, checkin_at: stay.checkin_at })
  }
  const ready = await prepare().catch(async (error) => {
    const lacksBooking = error instanceof DomainError && error.kind === 'conflict' && name !== 'guest-books'
    if (!lacksBooking) throw error
    await playScenario(run, 'guest-books')
    return prepare()
  })
  await ready.play()
}

/**
 * Waits a second, because the first change's version may be up to a second ahead of the clock. Once the version is in
 * the past, a product that continues from its own clock misses the change.
 */
export const passFirstVersion = () => Bun.sleep(1000)

/** Number of days that are searched for an open stay. No product is asked to push nights further ahead. */
const farDays = 600

/**
 * Finds the first stay with enough units left. A product that pushes its real availability may have closed any month,
 * so the months are tried one after another. If the product has closed all of them, the service opens units on nights
 * that no product is asked to push.
 *
 * @param from the earliest first night
 * @param count number of bookings that must fit
 */
export async function findOpenStay(
  run: Run,
  from: string,
  count: number,
): Promise<{ stay: StayDates; place: Place }> {
  const stage = stageOf(run)
  const lastDay = addDays(from, farDays)
  let stay = stayFrom(stage, from)
  while (stay.checkin_at <= lastDay) {
    const [place] = await placesFor(stage, null, stay, count).catch((error) => {
      if (error instanceof DomainError) return []
      throw error
    })
    if (place) return { stay, place }
    stay = stayFrom(stage, stay.checkout_at)
  }
  const [place] = (await roomTypesOf(run)) as [Place]
  await setUnits(stage, place, stay, count)
  return { stay, place }
}

/** Returns the room types of all listings in the sandbox. */
export async function roomTypesOf({ app, certification }: Run): Promise<Place[]> {
  const page = { page: 1, perPage: 100 }
  const wanted = { listingId: undefined, roomTypeId: undefined }
  const { listings } = await findRoomTypesPage(app.db, certification.sandbox_id, wanted, page)
  return listings.flatMap(({ listingId, roomTypeIds }) =>
    roomTypeIds.map((room_type_id) => ({ listing_id: listingId, room_type_id })),
  )
}

/** Returns the stage on which scenarios are played in a certification's sandbox. */
export function stageOf({ app, certification }: Run): Stage {
  return { app, sandboxId: certification.sandbox_id, keyId: certification.key_id }
}

/** Draws a whole number from `minimum` to `maximum`. The same seed and name always give the same number. */
export function draw(
  { certification: { seed } }: Run,
  name: string,
  minimum: number,
  maximum: number,
): number {
  const drawn = createHash('sha256').update(`${seed}/${name}`).digest().readUInt32BE(0)
  return minimum + (drawn % (maximum - minimum + 1))
}
