import { Elysia } from 'elysia'
import type { AppContext } from '../context.ts'
import { Envelope, ok, PageEnvelope } from '../http/envelope.ts'
import { guard } from '../http/guard.ts'
import { withIdempotency } from '../http/idempotency/idempotency.ts'
import { pageQuery, pagination, toPageRequest } from '../http/pagination.ts'
import { parsePathId, requestObject, responseObject, shown } from '../schema/fields.ts'
import { normalize } from '../schema/normalize.ts'
import { listMessages, prepareMessage } from './conversation.ts'
import { Message, MessageCreate } from './schema.ts'
import { serializeMessage } from './serialize.ts'

const defaultPerPage = 50

/** Reads and sends the messages of a booking (contract, Endpoints; decisions §10). */
export function messageRoutes(app: AppContext) {
  return new Elysia({ prefix: '/bookings/:booking_id/messages', tags: ['Messages'] })
    .use(guard(app))
    .get(
      '',
      async (context) => {
        const { booking_id } = context.params as { booking_id: string }
        const page = toPageRequest(context.query, defaultPerPage)
        const { rows, total } = await listMessages(
          app.db,
          context.caller.hostId,
          parsePathId(booking_id),
          page,
        )
        return ok(
          context,
          { messages: rows.map(serializeMessage) },
          { pagination: pagination(page, total, rows.length) },
        )
      },
      {
        access: { permission: 'bookings.read', errors: ['not_found'] },
        query: requestObject(pageQuery(defaultPerPage, 100)),
        response: {
          200: PageEnvelope(
            responseObject(
              { messages: shown.list('Messages of this page, oldest first', Message) },
              'The messages',
            ),
          ),
        },
        detail: { operationId: 'listMessages', summary: 'Read the messages of a booking' },
      },
    )
    .post(
      '',
      (context) => {
        const { booking_id } = context.params as { booking_id: string }
        const { text } = normalize(MessageCreate, context.body).message
        const host = { hostId: context.caller.hostId, name: context.caller.host.name }
        return withIdempotency(
          app,
          context,
          () => prepareMessage(app, host, parsePathId(booking_id), text),
          (message) => ({ status: 201, envelope: ok(context, { message: serializeMessage(message) }) }),
        )
      },
      {
        access: {
          permission: 'bookings.write',
          body: 'json',
          idempotent: true,
          errors: ['not_found', 'conflict'],
        },
        body: MessageCreate,
        response: { 201: Envelope(responseObject({ message: Message }, 'The message as it was stored')) },
        detail: { operationId: 'sendMessage', summary: 'Send a message to the guest' },
      },
    )
}
