import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { door } from '../http/door.ts'
import { Envelope, ok, PageEnvelope } from '../http/envelope.ts'
import { pageQuery, pagination, toPageRequest } from '../http/pagination.ts'
import { normalize } from '../schema/normalize.ts'
import { answerObject, parsePathId, requestObject } from '../schema/types.ts'
import { Message, MessageCreate } from './schema.ts'
import { listMessages, sendMessage, toWire } from './store.ts'

const defaultPerPage = 50

/** Reads and sends the messages of a booking (contract, Endpoints; decisions §10). */
export function messageRoutes(deps: Deps) {
  return new Elysia({ prefix: '/bookings/:booking_id/messages', tags: ['Messages'] })
    .use(door(deps))
    .get(
      '',
      async (context) => {
        const { booking_id } = context.params as { booking_id: string }
        const page = toPageRequest(context.query, defaultPerPage)
        const { rows, total } = await listMessages(deps, context.caller.hostId, parsePathId(booking_id), page)
        return ok(
          context,
          { messages: rows.map(toWire) },
          { pagination: pagination(page, total, rows.length) },
        )
      },
      {
        access: { permission: 'bookings.read' },
        query: requestObject(pageQuery(defaultPerPage, 100)),
        response: { 200: PageEnvelope(answerObject({ messages: Type.Array(Message) })) },
        detail: { summary: 'Read the messages of a booking' },
      },
    )
    .post(
      '',
      async (context) => {
        const { booking_id } = context.params as { booking_id: string }
        const { text } = normalize(MessageCreate, context.body).message
        const host = { hostId: context.caller.hostId, name: context.caller.host.name }
        const message = await sendMessage(deps, host, parsePathId(booking_id), text)
        return context.status(201, ok(context, { message: toWire(message) }))
      },
      {
        access: { permission: 'bookings.write', body: 'json' },
        body: MessageCreate,
        response: { 201: Envelope(answerObject({ message: Message })) },
        detail: { summary: 'Send a message to the guest' },
      },
    )
}
