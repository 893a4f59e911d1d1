import { DomainError } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { DeliveredBooking } from '../../http/outcome.ts'
import type { Certification } from './model.ts'
import { isGood } from './reads.ts'
import { findRecords } from './records-store.ts'
import type { CertificationState } from './schema.ts'
import { addToMemo } from './store.ts'

type Held = CertificationState['bookings'][number]

/** So many problems of a state are told. */
const shownProblems = 5

/**
 * Judges what a product holds, once, when it was asked for (decisions §25): each booking is to be as it was last delivered,
 * so a product that filters has only what its filters show. A cancelled one may be missing, and unknown ones are no fault.
 *
 * @throws DomainError `conflict` before it is asked for, and after it was judged
 */
export async function judgeState(
  { db }: AppContext,
  certification: Certification,
  bookings: Held[],
): Promise<Certification> {
  const { step, next, _id } = certification
  if (!step || next?.action !== 'upload_state' || step.memo.judged)
    throw new DomainError('conflict', 'The state is not asked for now: see `next`')
  const records = await findRecords(db, _id, 0)
  const shown = records.filter(isGood).flatMap((record) => record.bookings)
  const problems = compare(lastDelivered(shown), bookings)
  const judged = await addToMemo(db, certification, step.id, { judged: problems.slice(0, shownProblems) })
  if (!judged) throw new DomainError('conflict', 'The certification went on meanwhile')
  return judged
}

/** Each booking by the last version that was delivered of it. */
function lastDelivered(shown: DeliveredBooking[]): Map<number, DeliveredBooking> {
  const last = new Map<number, DeliveredBooking>()
  for (const booking of shown)
    if ((last.get(booking.id)?.version.getTime() ?? 0) <= booking.version.getTime())
      last.set(booking.id, booking)
  return last
}

/** What is wrong with a state, booking by booking. */
function compare(truth: Map<number, DeliveredBooking>, bookings: Held[]): string[] {
  const held = new Map(bookings.map((booking) => [Number(booking.booking_id), booking]))
  return [...truth.values()].flatMap((booking) => {
    const found = held.get(booking.id)
    if (!found)
      return booking.status === 'cancelled'
        ? []
        : [`Booking ${booking.id} is missing: it is ${booking.status}`]
    const wrong = (['status', 'checkin_at', 'checkout_at'] as const).filter(
      (field) => found[field] !== booking[field],
    )
    return wrong.map(
      (field) =>
        `Booking ${booking.id} has \`${field}\` ${found[field]}, and was last delivered with ${booking[field]}`,
    )
  })
}
