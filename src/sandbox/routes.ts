import { Elysia } from 'elysia'
import type { Access } from '../http/access.ts'
import { Confirmation, Envelope, ok } from '../http/envelope.ts'
import { guard } from '../http/guard.ts'
import { parsePathId } from '../http/path-ids.ts'
import { findBooking } from '../stays/bookings/store.ts'
import { replyAsGuest } from '../stays/messages/conversation.ts'
import { MessageCreate, MessageSent } from '../stays/messages/schema.ts'
import { metaOfSend, serializeMessage } from '../stays/messages/serialize.ts'
import type { SandboxContext } from './context.ts'
import { clearSandboxes } from './lifecycle/end.ts'

/**
 * Routes that the sandbox has in addition to the routes of `/v1`. They clear the sandbox, and reply as a guest so that
 * a partner can test incoming messages (decisions §13 and §17).
 */
export function sandboxRoutes(app: SandboxContext) {
  const access: Access = { permission: 'bookings.write', errors: ['not_found', 'conflict'] }
  return new Elysia({ tags: ['Sandbox'] })
    .use(guard(app))
    .delete(
      '',
      async (context) => {
        await clearSandboxes(app, { key_id: context.caller.keyId })
        return ok(context, { message: 'The sandbox was cleared; the next request opens a fresh sandbox' })
      },
      {
        access: { permission: 'any', environment: 'skips' },
        response: { 200: Envelope(Confirmation) },
        detail: { operationId: 'clearSandbox', summary: 'Clear the sandbox of this key' },
      },
    )
    .post(
      '/bookings/:booking_id/messages/guest',
      async (context) => {
        const { ownerId: sandboxId } = context.caller
        const { text } = context.body.message
        const id = parsePathId(context.params.booking_id)
        const sent = await replyAsGuest(app, () => findBooking(app.db, sandboxId, id), text)
        return context.status(201, ok(context, { message: serializeMessage(sent.message) }, metaOfSend(sent)))
      },
      {
        access: { ...access, body: 'json' },
        body: MessageCreate,
        response: { 201: MessageSent },
        detail: { operationId: 'replyAsSandboxGuest', summary: 'Reply as the guest of a sandbox booking' },
      },
    )
}
