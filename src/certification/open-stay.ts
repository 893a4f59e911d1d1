import { addDays } from '../core/clock.ts'
import { DomainError } from '../core/errors.ts'
import { prepareAvailability } from '../inventory/availability/write.ts'
import { carryOut } from '../platform/mongo/transactions.ts'
import { type Place, placesFor, type Stay } from '../sandbox/scenarios/stage.ts'
import { yearOf } from './inventory-year.ts'
import type { Run } from './step.ts'

const stayNights = 30
/** Number of days ahead that is beyond every night that a product is asked about. */
const farDays = 600

/** A stay with the requested number of places. */
export interface OpenStay {
  stay: Stay
  places: Place[]
}

/**
 * Finds the first stay with enough units left. A product that pushes truthful counts may have closed any month, so one
 * month after another is tried. If the product has closed all of them, units are opened on nights that no product is
 * asked about.
 *
 * @param from the earliest first night
 * @param count number of bookings that must fit
 */
export async function findOpenStay(
  { app, hostId, keyId }: Run,
  from: string,
  count: number,
): Promise<OpenStay> {
  const stayOn = (checkin_at: string) => ({ checkin_at, checkout_at: addDays(checkin_at, stayNights) })
  for (let first = from; first <= addDays(from, farDays); first = addDays(first, stayNights)) {
    const stay = stayOn(first)
    const places = await placesFor({ app, hostId, keyId }, null, stay, count).catch((error) => {
      if (error instanceof DomainError) return null
      throw error
    })
    if (places) return { stay, places }
  }
  const stay = stayOn(addDays(from, farDays + stayNights))
  const [place] = (await yearOf({ app, hostId })).room_types as [Place]
  const nights = { start_date: stay.checkin_at, end_date: addDays(stay.checkout_at, -1) }
  await carryOut(app.db, await prepareAvailability(app, hostId, [{ ...place, available: count, ...nights }]))
  return { stay, places: Array(count).fill(place) }
}
