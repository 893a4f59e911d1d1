import { ok, PageEnvelope } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { pageQuery, pagination, toPageRequest } from '../../http/input/pagination.ts'
import { output, requestObject, responseObject } from '../../http/input/schema/fields.ts'
import { routes } from '../../http/route.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { type ConversationBooking, findRepeated, newMessages, remember } from './conversation.ts'
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
  return routes(app, { prefix: '/bookings/:booking_id/messages', tags: ['Messages'] })
    .get(
      '',
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
      async (context) => {
        const { booking_id } = context.params
        const page = toPageRequest(context.query, defaultPerPage)
        const { id, owner_id } = await findBooking(app.db, context.caller.ownerId, booking_id)
        const { rows, total } = await findMessages(app.db, { owner_id, booking_id: id }, page)
        return ok(
          context,
          { messages: rows.map(serializeMessage) },
          { pagination: pagination(page, total, rows.length) },
        )
      },
    )
    .post(
      '',
      {
        access: { permission: 'bookings.write', body: 'json', errors: ['not_found', 'conflict'] },
        body: MessageCreate,
        response: { 201: MessageSent },
        detail: { operationId: 'sendMessage', summary: 'Send a message to the guest' },
      },
      {
        write: newMessages,
        input: ({ caller, params, body }) => ({
          bookingId: params.booking_id,
          findBooking: () => findBooking(app.db, caller.ownerId, params.booking_id),
          message: { sender: 'host', sender_name: caller.host.name, text: body.message.text },
        }),
        async repeated({ caller, params, body }) {
          const { booking_id } = params
          if (booking_id === undefined) return null
          return findRepeated(app, { owner_id: caller.ownerId, booking_id }, body.message.text)
        },
        respond: (request, sent) => ({
          status: 201,
          envelope: ok(request, { message: serializeMessage(sent.message) }, metaOfSend(sent)),
        }),
        afterCommit: (_, sent) => remember(app, sent),
      },
    )
}
