import { invalidField } from '../../core/errors.ts'
import type { StoredBooking } from '../../stays/bookings/model.ts'
import { bookingStatus, type StatusWord } from '../../stays/bookings/status.ts'
import { type BookingCriteria, findNewestBooking } from '../../stays/bookings/store.ts'
import { findClosedConversations } from '../../stays/messages/store.ts'
import type { ScenarioParameters } from './schema.ts'
import { cannotPlay, requireListing, type Stage } from './stage.ts'

type ScenarioTarget = Pick<ScenarioParameters, 'booking_id' | 'listing_id'>

/**
 * Returns the booking with the given `booking_id` if it is suitable or, if no id is given, the newest suitable booking.
 *
 * @param words suitable statuses
 * @param exceptIds ids of bookings to exclude
 * @throws DomainError `validation` at `booking_id` or `listing_id` for an id that is not in the sandbox; `conflict` if
 * no booking is suitable
 */
export async function findSuitableBooking(
  { app, sandboxId }: Stage,
  { booking_id, listing_id }: ScenarioTarget,
  words: StatusWord[],
  exceptIds: number[] = [],
): Promise<StoredBooking> {
  const find = (criteria: BookingCriteria) => findNewestBooking(app.db, sandboxId, criteria)
  if (booking_id && !(await find({ id: booking_id })))
    throw invalidField('booking_id', '"booking_id" must be the id of a booking of this sandbox')
  await requireListing(app.db, sandboxId, listing_id)
  const found = await find({
    ...(booking_id ? { id: booking_id } : {}),
    ...(listing_id ? { listing_id } : {}),
    statuses: words.map((word) => bookingStatus[word]),
    exceptIds,
  })
  if (found) return found
  const statuses = words.join(' or ')
  if (exceptIds.length > 0)
    throw cannotPlay(
      booking_id ? 'the booking has no open conversation' : 'no booking has an open conversation',
    )
  throw cannotPlay(booking_id ? `the booking is not ${statuses}` : `no booking is ${statuses}`)
}

/** Like {@link findSuitableBooking}, but a booking of any status is suitable unless its conversation is closed. */
export async function findOpenConversation(stage: Stage, wanted: ScenarioTarget): Promise<StoredBooking> {
  const closed = await findClosedConversations(stage.app.db, stage.sandboxId)
  return findSuitableBooking(stage, wanted, ['pending', 'confirmed', 'cancelled'], closed)
}
