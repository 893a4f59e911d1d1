import { DomainError } from '../../core/errors.ts'
import { currentTraceparent } from '../../core/trace.ts'
import { hostQueue } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import type { Traced } from '../../platform/mongo/turns/transactions.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import type { StoredBooking } from './model.ts'
import { bookingStatus, type StatusWord, toStatusWord } from './status.ts'
import { type BookingChangeToStore, changeBookings, findBookingsToChange } from './store.ts'

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
}

/** A transition of the booking with this id. */
export interface Move extends Transition {
  id: number
}

/**
 * Changes the statuses of several bookings of one host, and the fields that depend on the status. Two moves of the same
 * booking are made one after the other. Returns each booking after its move.
 *
 * @throws DomainError `not_found`; `conflict` if any transition is illegal
 */
export async function moveBookings(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  session: Session,
  ownerId: number,
  moves: Traced<Move>[],
): Promise<StoredBooking[]> {
  const now = clock(ownerId)
  const ids = moves.map(({ id }) => id)
  const bookings = await findBookingsToChange(db, session, ownerId, ids)
  const changes: BookingChangeToStore[] = []
  for (const { id, to, reason = null, trace } of moves) {
    const seen = bookings.get(id) as StoredBooking
    requireLegalTransition(toStatusWord(seen.status), to)
    const dated =
      to === 'confirmed'
        ? { confirmed_at: now }
        : { canceled_at: now, cancellation_reason: keptReason(seen, reason) }
    const values = { status: bookingStatus[to], ...dated }
    bookings.set(id, { ...seen, ...values })
    changes.push({ seen, values, trace })
  }
  return changeBookings(db, session, changes, now)
}

/** Changes one booking's status; see {@link moveBookings}. */
export async function moveBooking(
  app: Pick<AppContext, 'db' | 'clock'>,
  session: Session,
  { owner_id, id }: Pick<StoredBooking, 'owner_id' | 'id'>,
  transition: Transition,
): Promise<StoredBooking> {
  const move = { id, ...transition, trace: currentTraceparent() }
  const [moved] = await moveBookings(app, session, owner_id, [move])
  return moved as StoredBooking
}

/** Returns the reason to store with a transition; null if the guest was erased, because a reason may name them. */
export function keptReason(booking: Pick<StoredBooking, 'erased_at'>, reason: string | null): string | null {
  return booking.erased_at ? null : reason
}

/**
 * Changes one booking's status in a transaction of its own.
 *
 * @param extraWrite runs within the transaction; receives the reason, or null if none was given or the guest was erased
 * @throws DomainError `conflict` for an illegal transition
 */
export async function transitionBooking(
  app: Pick<AppContext, 'db' | 'clock'>,
  { owner_id, id }: Pick<StoredBooking, 'owner_id' | 'id'>,
  transition: Transition,
  extraWrite: (session: Session, reason: string | null) => Promise<void> = async () => {},
): Promise<StoredBooking> {
  return inTransaction(app.db, hostQueue(owner_id), async (session) => {
    const moved = await moveBooking(app, session, { owner_id, id }, transition)
    await extraWrite(session, keptReason(moved, transition.reason ?? null))
    return moved
  })
}
