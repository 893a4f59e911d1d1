import { Elysia } from 'elysia'
import { readBookingDetail } from '../bookings/detail.ts'
import { BookingInFull } from '../bookings/schema.ts'
import { findBooking } from '../bookings/store.ts'
import { transitionBooking } from '../bookings/transitions.ts'
import type { AppContext } from '../context.ts'
import type { Access } from '../http/access.ts'
import { Confirmation, Envelope, ok } from '../http/envelope.ts'
import { guard } from '../http/guard.ts'
import { replyAsGuest } from '../messages/conversation.ts'
import { Message, MessageCreate } from '../messages/schema.ts'
import { serializeMessage } from '../messages/serialize.ts'
import { parsePathId, responseObject } from '../schema/fields.ts'
import { normalize } from '../schema/normalize.ts'

/**
 * What the sandbox has beyond the routes of `/v1`: it can be cleared, its bookings can be confirmed and cancelled, and
 * its guests can reply, so that a partner sees changes arrive in the feeds (decisions §13 and §17).
 */
export function sandboxRoutes(app: AppContext) {
  const access: Access = { permission: 'bookings.write', errors: ['not_found', 'conflict'] }
  const transition = (to: 'confirmed' | 'cancelled') => async (context: TransitionContext) => {
    const { hostId } = context.caller
    const id = parsePathId(context.params.booking_id)
    await transitionBooking(app, () => findBooking(app.db, hostId, id), to)
    return ok(context, { Booking: await readBookingDetail(app.db, hostId, id) })
  }
  const response = { 200: Envelope(BookingInFull) }
  return new Elysia({ tags: ['Sandbox'] })
    .use(guard(app))
    .delete(
      '',
      async (context) => {
        await app.environment.clearSandbox?.(context.caller.keyId)
        return ok(context, { message: 'The sandbox was cleared; the next request finds a fresh one' })
      },
      {
        access: { permission: 'any', opensSandbox: false },
        response: { 200: Envelope(Confirmation) },
        detail: { operationId: 'clearSandbox', summary: 'Clear the sandbox of this key' },
      },
    )
    .post('/bookings/:booking_id/confirm', transition('confirmed'), {
      access,
      response,
      detail: { operationId: 'confirmSandboxBooking', summary: 'Confirm a sandbox booking' },
    })
    .post(
      '/bookings/:booking_id/messages/guest',
      async (context) => {
        const { hostId } = context.caller
        const { text } = normalize(MessageCreate, context.body).message
        const id = parsePathId(context.params.booking_id)
        const message = await replyAsGuest(app, () => findBooking(app.db, hostId, id), text)
        return context.status(201, ok(context, { message: serializeMessage(message) }))
      },
      {
        access: { ...access, body: 'json' },
        body: MessageCreate,
        response: { 201: Envelope(responseObject({ message: Message }, 'The message as it was stored')) },
        detail: { operationId: 'replyAsSandboxGuest', summary: 'Let the guest of a sandbox booking reply' },
      },
    )
    .post('/bookings/:booking_id/cancel', transition('cancelled'), {
      access,
      response,
      detail: { operationId: 'cancelSandboxBooking', summary: 'Cancel a sandbox booking' },
    })
}

interface TransitionContext {
  params: { booking_id: string }
  caller: { hostId: number; isSandbox: boolean }
  set: { headers: Record<string, string | number | undefined> }
}
