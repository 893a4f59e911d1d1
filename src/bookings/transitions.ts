import type { AppContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { hostQueue } from '../host-clock/store.ts'
import type { Session } from '../platform/mongo/connection.ts'
import { inTransaction } from '../platform/mongo/transactions.ts'
import type { StoredBooking } from './model.ts'
import { bookingStatus, type StatusWord, toStatusWord } from './status.ts'
import { changeBooking } from './store.ts'

/** Which status may follow which (decisions §6). */
const legalTransitions: Record<StatusWord, StatusWord[]> = {
  pending: ['confirmed', 'cancelled'],
  confirmed: ['cancelled'],
  cancelled: [],
}

/**
 * Refuses an illegal transition, and says which ones are legal.
 *
 * @throws DomainError `conflict`
 */
export function requireLegalTransition(from: StatusWord, to: StatusWord): void {
  const legal = legalTransitions[from]
  if (legal.includes(to)) return
  const hint = legal.length > 0 ? `it can only become ${legal.join(' or ')}` : 'its status is final'
  throw new DomainError('conflict', `The booking is ${from}: ${hint}`)
}

/**
 * Moves a booking to another status, and sets the fields that go with it.
 *
 * @param find looks the booking up, again for every attempt
 * @param also what is written along with it, in its transaction
 * @throws DomainError `not_found`; `conflict` for an illegal transition
 */
export async function transitionBooking(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  find: () => Promise<StoredBooking>,
  to: 'confirmed' | 'cancelled',
  reason: string | null = null,
  also: (session: Session) => Promise<void> = async () => {},
): Promise<StoredBooking> {
  for (;;) {
    const seen = await find()
    requireLegalTransition(toStatusWord(seen.status), to)
    const now = clock()
    const set = to === 'confirmed' ? { confirmed_at: now } : { canceled_at: now, cancellation_reason: reason }
    const values = { status: bookingStatus[to], ...set }
    const changed = await inTransaction(db, hostQueue(seen.host_id), async (session) => {
      const booking = await changeBooking(db, session, seen, values, now)
      if (booking) await also(session)
      return booking
    })
    if (changed) return changed
  }
}
