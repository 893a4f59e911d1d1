import { Elysia } from 'elysia'
import { Accepted } from '../availability/schema.ts'
import { moveBooking } from '../bookings/moves.ts'
import type { Deps } from '../deps.ts'
import { BookingDetail } from '../feed/schema.ts'
import { findBooking, readBookingDetail } from '../feed/store.ts'
import { type Access, door } from '../http/door.ts'
import { Envelope, ok } from '../http/envelope.ts'
import { answerObject, parsePathId } from '../schema/types.ts'
import { clearSandbox } from './store.ts'

/**
 * What the sandbox has beside the routes of `/v1`: it can be cleared, and bookings can be moved there, so that
 * a partner sees changes arrive in the feed (decisions §13).
 */
export function sandboxRoutes(deps: Deps) {
  const access: Access = { permission: 'bookings.write' }
  const moving = (to: 'confirmed' | 'cancelled') => async (context: MoveContext) => {
    const { hostId } = context.caller
    const id = parsePathId(context.params.booking_id)
    await moveBooking(deps, () => findBooking(deps, hostId, id), to)
    return ok(context, { Booking: await readBookingDetail(deps, hostId, id) })
  }
  const answer = { 200: Envelope(answerObject({ Booking: BookingDetail })) }
  return new Elysia({ tags: ['Sandbox'] })
    .use(door(deps))
    .delete(
      '',
      async (context) => {
        await clearSandbox(deps, context.caller.keyId)
        return ok(context, { message: 'The sandbox was cleared; the next request finds a fresh one' })
      },
      {
        access: { permission: 'any', opensSandbox: false },
        response: { 200: Envelope(Accepted) },
        detail: { summary: 'Clear the sandbox of this key' },
      },
    )
    .post('/bookings/:booking_id/confirm', moving('confirmed'), {
      access,
      response: answer,
      detail: { summary: 'Confirm a sandbox booking' },
    })
    .post('/bookings/:booking_id/cancel', moving('cancelled'), {
      access,
      response: answer,
      detail: { summary: 'Cancel a sandbox booking' },
    })
}

interface MoveContext {
  params: { booking_id: string }
  caller: { hostId: number; isSandbox: boolean }
  set: { headers: Record<string, string | number | undefined> }
}
