import { DomainError } from '../core/errors.ts'
import type { SandboxContext } from '../sandbox/context.ts'
import type { Certification, Delivery } from './model.ts'
import { findDeliveries } from './records-store.ts'
import type { CertificationState } from './schema.ts'
import { addToMemo } from './store.ts'

type Held = CertificationState['bookings'][number]

/** Maximum number of problems reported for a state. */
const shownProblems = 5

/**
 * Judges the bookings that a product holds, only once and only when `next` asks for them (decisions §25). Each booking
 * must match its last delivery, so a product that filters needs only the bookings its filters let through. A cancelled
 * booking may be missing, and additional bookings are allowed.
 *
 * @throws DomainError `conflict` before the state is requested and after it has been judged
 */
export async function judgeState(
  { db }: SandboxContext,
  certification: Certification,
  bookings: Held[],
): Promise<Certification> {
  const { step, next, _id } = certification
  if (!step || next?.action !== 'upload_state' || step.memo.judged)
    throw new DomainError('conflict', 'The state is not asked for now: see `next`')
  const problems = compare(lastDelivered(await findDeliveries(db, _id)), bookings)
  const judged = await addToMemo(db, certification, step.id, { judged: problems.slice(0, shownProblems) })
  if (!judged) throw new DomainError('conflict', 'The certification went on meanwhile')
  return judged
}

/** Returns the last delivered version of each booking, by booking id. */
function lastDelivered(deliveries: Delivery[]): Map<number, Delivery> {
  const last = new Map<number, Delivery>()
  for (const delivery of deliveries)
    if ((last.get(delivery.booking_id)?.version.getTime() ?? 0) <= delivery.version.getTime())
      last.set(delivery.booking_id, delivery)
  return last
}

/** Returns the differences between the delivered and the held bookings, as sentences for the partner. */
function compare(truth: Map<number, Delivery>, bookings: Held[]): string[] {
  const held = new Map(bookings.map((booking) => [Number(booking.booking_id), booking]))
  return [...truth.values()].flatMap((booking) => {
    const found = held.get(booking.booking_id)
    if (!found)
      return booking.status === 'cancelled'
        ? []
        : [`Booking ${booking.booking_id} is missing: it is ${booking.status}`]
    const wrong = (['status', 'checkin_at', 'checkout_at'] as const).filter(
      (field) => found[field] !== booking[field],
    )
    return wrong.map(
      (field) =>
        `Booking ${booking.booking_id} has \`${field}\` ${found[field]}, and was last delivered with ${booking[field]}`,
    )
  })
}
