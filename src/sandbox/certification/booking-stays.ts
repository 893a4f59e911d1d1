import { addDays } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { prepareAvailability } from '../../inventory/availability/write.ts'
import { carryOut } from '../../platform/mongo/transactions.ts'
import { readNights } from '../../stays/nights/read-nights.ts'
import { book, makeGuest, type Place, placesFor, type Stay } from '../scenarios/stage.ts'
import { draw } from './draw.ts'
import { changesAfter } from './reads.ts'
import type { Run } from './step.ts'

const stayNights = 30

/** A stay that a product is asked to book. */
export type Wanted = Place & Stay

/** The first stay from a day on, or a month later again and again, of which units are left. */
async function freeStay({ app, hostId, keyId }: Run, from: string): Promise<Wanted> {
  for (let checkin_at = from; ; checkin_at = addDays(checkin_at, stayNights)) {
    const stay = { checkin_at, checkout_at: addDays(checkin_at, stayNights) }
    const places = await placesFor({ app, hostId, keyId }, null, stay, 1).catch((error) => {
      if (error instanceof DomainError) return []
      throw error
    })
    if (places[0]) return { ...places[0], ...stay }
    // A product that closes its whole year leaves the years after it open.
    if (checkin_at > addDays(from, 500)) throw new Error('No unit is left on any night')
  }
}

/** Draws a stay of which units are left, at least five days after a day: stays drawn one after the other share no night. */
export function drawStay(run: Run, name: string, after: string): Promise<Wanted> {
  return freeStay(run, addDays(after, draw(run.certification.seed, `${name}/day`, 5, 50)))
}

/** The bookings of a stay that were made since the step began. */
export async function madeOf(run: Run, { room_type_id, checkin_at, checkout_at }: Wanted) {
  const made = await changesAfter(run, run.memo.after as Date)
  return made.filter(
    (booking) =>
      booking.room_type_id === room_type_id &&
      booking.checkin_at === checkin_at &&
      booking.checkout_at === checkout_at,
  )
}

/** Leaves one unit of the nights, and gives it to a guest; once more does no harm. */
export async function takeUnits(
  { app, hostId, keyId }: Run,
  { checkin_at, checkout_at, ...place }: Wanted,
): Promise<void> {
  const nights = { from: checkin_at, to: addDays(checkout_at, -1) }
  const units = (await readNights(app.db, hostId, [place.room_type_id], nights)).get(place.room_type_id) ?? []
  if (units.every(({ left }) => left === 0)) return
  const item = { ...place, available: 1, start_date: nights.from, end_date: nights.to }
  await carryOut(app.db, await prepareAvailability(app, hostId, [item]))
  const stage = { app, hostId, keyId }
  const guest = { user_id: await makeGuest(stage), place, stay: { checkin_at, checkout_at } }
  await book(stage, guest).catch((error) => {
    // The product was faster: the nights are gone all the same.
    if (!(error instanceof DomainError)) throw error
  })
}
