import { Elysia } from 'elysia'
import type { AppContext } from '../../http/context.ts'
import { ok, PageEnvelope } from '../../http/envelope.ts'
import { guard } from '../../http/guard.ts'
import { pageQuery, pagination, toPageRequest } from '../../http/pagination.ts'
import { parsePathId } from '../../http/path-ids.ts'
import { output, requestObject, responseObject } from '../../http/schema/fields.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { type ConversationBooking, sendAsHost } from './conversation.ts'
import { Message, MessageCreate, MessageSent } from './schema.ts'
import { metaOfSend, serializeMessage } from './serialize.ts'
import { findMessages } from './store.ts'

const defaultPerPage = 50

/**
 * Defines the routes that read and send a booking's messages (contract, Endpoints; decisions §10).
 *
 * @param findBooking finds a host's booking, or throws a DomainError `not_found`
 */
export function messageRoutes(
  app: AppContext,
  findBooking: (db: Db, ownerId: number, id: number | undefined) => Promise<ConversationBooking>,
) {
  return new Elysia({ prefix: '/bookings/:booking_id/messages', tags: ['Messages'] })
    .use(guard(app))
    .get(
      '',
      async (context) => {
        const { booking_id } = context.params as { booking_id: string }
        const page = toPageRequest(context.query, defaultPerPage)
        const { id, owner_id } = await findBooking(app.db, context.caller.ownerId, parsePathId(booking_id))
        const { rows, total } = await findMessages(app.db, { owner_id, booking_id: id }, page)
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
              { messages: output.list('Messages on this page, oldest first', Message) },
              'The messages',
            ),
          ),
        },
        detail: { operationId: 'listMessages', summary: 'List the messages of a booking' },
      },
    )
    .post(
      '',
      async (context) => {
        const { booking_id } = context.params as { booking_id: string }
        const { text } = context.body.message
        const { ownerId, host } = context.caller
        const booking = await findBooking(app.db, ownerId, parsePathId(booking_id))
        const sent = await sendAsHost(app, booking, host.name, text)
        return context.status(201, ok(context, { message: serializeMessage(sent.message) }, metaOfSend(sent)))
      },
      {
        access: { permission: 'bookings.write', body: 'json', errors: ['not_found', 'conflict'] },
        body: MessageCreate,
        response: { 201: MessageSent },
        detail: { operationId: 'sendMessage', summary: 'Send a message to the guest' },
      },
    )
}
