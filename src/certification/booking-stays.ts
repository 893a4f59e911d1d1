import { addDays } from '../core/clock.ts'
import { DomainError } from '../core/errors.ts'
import { prepareAvailability } from '../inventory/availability/write.ts'
import { carryOut } from '../platform/mongo/transactions.ts'
import { book, makeGuest, type Place, type Stay } from '../sandbox/scenarios/stage.ts'
import { readNights } from '../stays/nights/read-nights.ts'
import { findOpenStay } from './open-stay.ts'
import { changesAfter } from './reads.ts'
import { draw, type Run } from './step.ts'

/** A stay that a product is asked to book. */
export type Wanted = Place & Stay

/**
 * Draws a stay that has units left and begins at least five days after the day `after`, so stays drawn in succession
 * share no nights.
 */
export async function drawStay(run: Run, name: string, after: string): Promise<Wanted> {
  const from = addDays(after, draw(run.certification.seed, `${name}/day`, 5, 50))
  const { stay, places } = await findOpenStay(run, from, 1)
  return { ...(places[0] as Place), ...stay }
}

/** Returns the bookings made for a stay since the step began. */
export async function madeOf(run: Run, { room_type_id, checkin_at, checkout_at }: Wanted) {
  const made = await changesAfter(run, run.memo.after as Date)
  return made.filter(
    (booking) =>
      booking.room_type_id === room_type_id &&
      booking.checkin_at === checkin_at &&
      booking.checkout_at === checkout_at,
  )
}

/** Reduces a stay's nights to one unit and has a guest book it. Running this twice is harmless. */
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
    // The product took the last unit first, so the nights are gone either way.
    if (!(error instanceof DomainError)) throw error
  })
}
