import { DomainError } from '../../core/errors.ts'
import type { SandboxContext } from '../../sandbox/sandbox-context.ts'
import type { Certification } from '../model.ts'
import type { DeliveredVersion } from '../record/model.ts'
import { findDeliveries } from '../record/store.ts'
import type { CertificationState } from '../schema.ts'
import { recordProblems } from '../store.ts'

type Held = CertificationState['bookings'][number]

/** Maximum number of problems reported for a state. */
const shownProblems = 5

/**
 * Judges the bookings that a product holds. This is possible only once, and only while `next` asks for them (decisions
 * §25). Each delivered booking must match its last delivery, so a product with filters needs only the bookings that
 * match its filters. A cancelled booking may be missing, and additional bookings are allowed.
 *
 * @returns the certification with the problems found
 * @throws DomainError `conflict` if the state is not requested or has already been judged
 */
export async function judgeState(
  { db }: SandboxContext,
  certification: Certification,
  bookings: Held[],
): Promise<Certification> {
  const { step, next, _id } = certification
  if (!step || next?.action !== 'upload_state' || step.memo.judged)
    throw new DomainError('conflict', 'The state is not requested now; see `next`')
  const problems = differences(await findDeliveries(db, _id), bookings)
  const judged = await recordProblems(db, _id, step.id, problems.slice(0, shownProblems))
  if (!judged) throw new DomainError('conflict', 'The certification has moved on to another step')
  return judged
}

/** Returns the differences between the delivered and the held bookings, as sentences for the partner. */
export function differences(deliveries: DeliveredVersion[], bookings: Held[]): string[] {
  const last = new Map(deliveries.map((delivery) => [delivery.booking_id, delivery]))
  const held = new Map(bookings.map((booking) => [Number(booking.booking_id), booking]))
  const problems: string[] = []
  for (const booking of last.values()) {
    const { booking_id, status } = booking
    const found = held.get(booking_id)
    if (!found) {
      if (status !== 'cancelled') problems.push(`Booking ${booking_id} is missing; its status is ${status}`)
      continue
    }
    for (const field of ['status', 'checkin_at', 'checkout_at'] as const)
      if (found[field] !== booking[field])
        problems.push(
          `Booking ${booking_id} has \`${field}\` ${found[field]}, but was last delivered with ${booking[field]}`,
        )
  }
  return problems
}
