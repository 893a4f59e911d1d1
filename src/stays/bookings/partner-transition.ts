import { bookingTarget, partnerActor, recordAction } from '../../access/audit/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Caller } from '../../http/request.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import { mapUnit, type UnitOfWork } from '../../platform/mongo/transactions.ts'
import type { BookingDetail } from './schema.ts'
import { prepareDetails } from './serialize.ts'
import { findBooking } from './store.ts'
import { prepareTransition, type Transition } from './transitions.ts'

const actions = { confirmed: 'bookings confirm', cancelled: 'bookings cancel' } as const

/**
 * Prepares a booking transition requested by a partner (decisions §20), using {@link prepareTransition}. Outside the
 * sandbox, the transaction also adds an entry to the audit log.
 *
 * @throws DomainError `not_found`, including for an undefined id; `conflict` for an illegal transition
 */
export async function preparePartnerTransition(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  caller: Caller,
  bookingId: number | undefined,
  { to, reason = null }: Pick<Transition, 'to' | 'reason'>,
): Promise<UnitOfWork<{ Booking: BookingDetail; userId: number }>> {
  const { ownerId, isSandbox } = caller
  const booking = await findBooking(db, ownerId, bookingId)
  const toDetail = await prepareDetails(db, ownerId, [booking])
  const move = {
    owner_id: ownerId,
    action: actions[to],
    target: bookingTarget(booking.id),
    actor: partnerActor(caller),
  }
  const record = (session: Session, kept: string | null) =>
    recordAction(db, { at: clock(), ...move, reason: kept }, session)
  const transition = { to, reason, ...(isSandbox ? {} : { extraWrite: record }) }
  return mapUnit(prepareTransition({ db, clock }, booking, transition), (moved) => ({
    Booking: toDetail(moved),
    userId: booking.user_id,
  }))
}
