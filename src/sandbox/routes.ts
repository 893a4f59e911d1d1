import type { Access } from '../http/access.ts'
import { Confirmation, created, Envelope, ok } from '../http/answer/envelope.ts'
import { routes } from '../http/route.ts'
import { findBooking } from '../stays/bookings/store.ts'
import { replyAsGuest } from '../stays/messages/conversation.ts'
import { MessageCreate, MessageSent } from '../stays/messages/schema.ts'
import { metaOfSend, serializeMessage } from '../stays/messages/serialize.ts'
import { clearSandboxes } from './lifecycle/end.ts'
import type { SandboxContext } from './sandbox-context.ts'

/**
 * Routes that the sandbox has in addition to the routes of `/v1`. They clear the sandbox, and reply as a guest so that
 * a partner can test incoming messages (decisions §13 and §17).
 */
export function sandboxRoutes(app: SandboxContext) {
  const access: Access = { permission: 'bookings.write', errors: ['not_found', 'conflict'] }
  return routes(app, { tags: ['Sandbox'] })
    .delete(
      '',
      {
        access: { permission: 'any', environment: 'skips' },
        response: { 200: Envelope(Confirmation) },
        detail: { operationId: 'clearSandbox', summary: 'Clear the sandbox of this key' },
      },
      async (context) => {
        await clearSandboxes(app, { key_id: context.caller.keyId })
        return ok(context, { message: 'The sandbox was cleared; the next request opens a fresh sandbox' })
      },
    )
    .post(
      '/bookings/:booking_id/messages/guest',
      {
        access: { ...access, body: 'json' },
        body: MessageCreate,
        response: { 201: MessageSent },
        detail: { operationId: 'replyAsSandboxGuest', summary: 'Reply as the guest of a sandbox booking' },
      },
      async (context) => {
        const { ownerId: sandboxId } = context.caller
        const { text } = context.body.message
        const id = context.params.booking_id
        const sent = await replyAsGuest(app, () => findBooking(app.db, sandboxId, id), text)
        return created(context, { message: serializeMessage(sent.message) }, metaOfSend(sent))
      },
    )
}
