import {
  type Actor,
  bookingTarget,
  type HostAction,
  partnerActor,
  recordHostActions,
} from '../../access/audit/store.ts'
import { hostQueue } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Caller } from '../../http/request.ts'
import { batch } from '../../http/write.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import type { Traced } from '../../platform/mongo/turns/transactions.ts'
import { findBookingInFull } from './detail-store.ts'
import type { StoredBooking } from './model.ts'
import type { BookingDetail } from './schema.ts'
import { serializeBookingDetail } from './serialize.ts'
import { toStatusWord } from './status.ts'
import {
  keptReason,
  type Move,
  moveBookings,
  requireLegalTransition,
  type Transition,
} from './transitions.ts'

const actions = { confirmed: 'bookings confirm', cancelled: 'bookings cancel' } as const

/** A partner's move of a booking. */
export interface PartnerMove extends Move {
  /** Recorded in the audit log; null in the sandbox, which has none. */
  actor: Actor | null
  toDetail: (booking: StoredBooking) => BookingDetail
}

/** What a partner sends to move a booking. */
interface SentMove extends Pick<Transition, 'to' | 'reason'> {
  caller: Caller
  /** Undefined for an id that no booking can have. */
  bookingId: number | undefined
}

/** A moved booking in full, and its guest. */
export interface MovedBooking {
  Booking: BookingDetail
  userId: number
}

/** Moves bookings to another status. */
export const partnerMoves = batch({ queue: hostQueue, prepare: preparePartnerMove, write: moveForPartners })

/**
 * Prepares a booking transition requested by a partner (decisions §20).
 *
 * @throws DomainError `not_found`, including for an undefined id; `conflict` for an illegal transition, both when
 * prepared and when written
 */
async function preparePartnerMove(
  app: Pick<AppContext, 'db' | 'clock'>,
  ownerId: number,
  { caller, bookingId, to, reason }: SentMove,
): Promise<PartnerMove> {
  const { booking, guest, roomTypeName } = await findBookingInFull(app.db, ownerId, bookingId)
  requireLegalTransition(toStatusWord(booking.status), to)
  return {
    id: booking.id,
    to,
    reason: reason ?? null,
    actor: caller.isSandbox ? null : partnerActor(caller),
    toDetail: (moved) => serializeBookingDetail(moved, guest, roomTypeName),
  }
}

/** Moves bookings of one host. Outside the sandbox, also adds an entry to the audit log for each of them. */
async function moveForPartners(
  app: Pick<AppContext, 'db' | 'clock'>,
  session: Session,
  ownerId: number,
  moves: Traced<PartnerMove>[],
): Promise<MovedBooking[]> {
  const moved = await moveBookings(app, session, ownerId, moves)
  const entries: HostAction[] = []
  for (const [index, { id, to, reason = null, actor }] of moves.entries()) {
    if (!actor) continue
    entries.push({
      owner_id: ownerId,
      at: app.clock(),
      action: actions[to],
      target: bookingTarget(id),
      actor,
      reason: keptReason(moved[index] as StoredBooking, reason),
    })
  }
  if (entries.length > 0) await recordHostActions(app.db, entries, session)
  return moves.map(({ toDetail }, index) => {
    const booking = moved[index] as StoredBooking
    return { Booking: toDetail(booking), userId: booking.user_id }
  })
}
