import { tickHostClock } from '../infra/host-clock.ts'
import type { Db, Session } from '../infra/mongo.ts'
import { type Booking, bookingModel } from './model.ts'

/**
 * The only two writes that bookings know. Both take their version from the host's clock in the same
 * transaction, so no change can be without a version of its own. Why that loses nothing: see `feed/walk.ts`.
 */

/** A booking before it has its place among the host's changes. */
export type BookingDraft = Omit<Booking, 'created_sequence' | 'created_at' | 'updated_at'>

/**
 * Inserts a booking; `check` sees the state that the booking will be added to, and may refuse it.
 */
export async function insertBooking(
  db: Db,
  session: Session,
  draft: BookingDraft,
  now: Date,
  check: () => Promise<void>,
): Promise<Booking> {
  const { version, sequence } = await tickHostClock(db, session, draft.host_id, now)
  await check()
  const booking = { ...draft, created_sequence: sequence, created_at: now, updated_at: version }
  await bookingModel(db).create([booking], { session })
  return booking
}

/** Changes a booking that is still what the caller saw, or gives null. */
export async function changeBooking(
  db: Db,
  session: Session,
  seen: Booking,
  values: Partial<BookingDraft>,
  now: Date,
): Promise<Booking | null> {
  const { version } = await tickHostClock(db, session, seen.host_id, now)
  const filter = { host_id: seen.host_id, id: seen.id, updated_at: seen.updated_at }
  const change = { $set: { ...values, updated_at: version } }
  return bookingModel(db).findOneAndUpdate(filter, change, { session, new: true }).lean()
}
