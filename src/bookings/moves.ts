import type { Deps } from '../deps.ts'
import { DomainError } from '../errors.ts'
import { hostQueue } from '../infra/host-clock.ts'
import { inTransaction, type Session } from '../infra/mongo.ts'
import { changeBooking } from './changes.ts'
import { type Booking, bookingStatus, type StatusWord, toStatusWord } from './model.ts'

/** The moves of a booking (decisions §6). */
const legalMoves: Record<StatusWord, StatusWord[]> = {
  pending: ['confirmed', 'cancelled'],
  confirmed: ['cancelled'],
  cancelled: [],
}

/**
 * Refuses a move that is not legal, and says which are.
 *
 * @throws DomainError `conflict`
 */
export function requireLegalMove(from: StatusWord, to: StatusWord): void {
  const legal = legalMoves[from]
  if (legal.includes(to)) return
  const hint = legal.length > 0 ? `it can only become ${legal.join(' or ')}` : 'it can become nothing else'
  throw new DomainError('conflict', `The booking is ${from}: ${hint}`)
}

/**
 * Moves a booking to another status, and sets what the move sets.
 *
 * @param find looks the booking up, anew for every try
 * @param also what is written with the move, in its transaction
 * @throws DomainError `not_found`; `conflict` for an illegal move
 */
export async function moveBooking(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  find: () => Promise<Booking>,
  to: 'confirmed' | 'cancelled',
  reason: string | null = null,
  also: (session: Session) => Promise<void> = async () => {},
): Promise<Booking> {
  for (;;) {
    const seen = await find()
    requireLegalMove(toStatusWord(seen.status), to)
    const now = clock()
    const set = to === 'confirmed' ? { confirmed_at: now } : { canceled_at: now, cancellation_reason: reason }
    const values = { status: bookingStatus[to], ...set }
    const moved = await inTransaction(db, hostQueue(seen.host_id), async (session) => {
      const changed = await changeBooking(db, session, seen, values, now)
      if (changed) await also(session)
      return changed
    })
    if (moved) return moved
  }
}
