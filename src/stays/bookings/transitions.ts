import { DomainError } from '../../core/errors.ts'
import { hostQueue } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import { runUnit, type UnitOfWork } from '../../platform/mongo/transactions.ts'
import type { StoredBooking } from './model.ts'
import { bookingStatus, type StatusWord, toStatusWord } from './status.ts'
import { changeBooking, findBookingToChange } from './store.ts'

/** Legal next statuses by current status (decisions §6). */
const legalTransitions: Record<StatusWord, StatusWord[]> = {
  pending: ['confirmed', 'cancelled'],
  confirmed: ['cancelled'],
  cancelled: [],
}

/**
 * Rejects an illegal transition with an error that lists the legal ones.
 *
 * @throws DomainError `conflict`
 */
export function requireLegalTransition(from: StatusWord, to: StatusWord): void {
  const legal = legalTransitions[from]
  if (legal.includes(to)) return
  const hint = legal.length > 0 ? `it can only become ${legal.join(' or ')}` : 'its status is final'
  throw new DomainError('conflict', `The booking is ${from}: ${hint}`)
}

/** A transition of a booking to another status. */
export interface Transition {
  to: 'confirmed' | 'cancelled'
  /** Cancellation reason, stored with the booking; null if none was given. */
  reason?: string | null
  /**
   * Runs within the transition's transaction. Receives the reason; null if none was given or the booking was erased.
   */
  extraWrite?: (session: Session, reason: string | null) => Promise<void>
}

/**
 * Prepares to change a booking's status and the fields that depend on the status.
 *
 * @throws DomainError `conflict` for an illegal transition, both when prepared and when run
 */
export function prepareTransition(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  { owner_id, id, status }: Pick<StoredBooking, 'owner_id' | 'id' | 'status'>,
  { to, reason = null, extraWrite = async () => {} }: Transition,
): UnitOfWork<StoredBooking> {
  requireLegalTransition(toStatusWord(status), to)
  return {
    queue: hostQueue(owner_id),
    shares: 'in step',
    async run(session) {
      const seen = await findBookingToChange(db, session, owner_id, id)
      requireLegalTransition(toStatusWord(seen.status), to)
      const now = clock(owner_id)
      const kept = seen.erased_at ? null : reason
      const dated =
        to === 'confirmed' ? { confirmed_at: now } : { canceled_at: now, cancellation_reason: kept }
      const values = { status: bookingStatus[to], ...dated }
      const booking = await changeBooking(db, session, seen, { values, now })
      await extraWrite(session, kept)
      return booking
    },
  }
}

/**
 * Changes a booking's status; see {@link prepareTransition}.
 *
 * @throws DomainError `conflict` for an illegal transition
 */
export async function transitionBooking(
  context: Pick<AppContext, 'db' | 'clock'>,
  booking: Pick<StoredBooking, 'owner_id' | 'id' | 'status'>,
  transition: Transition,
): Promise<StoredBooking> {
  return runUnit(context.db, prepareTransition(context, booking, transition))
}
