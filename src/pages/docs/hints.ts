import type { Json } from './schemas.ts'

const version = '2027-01-04 09:30:01'
const timestamp = '2027-01-04T09:30:01.000000Z'
const place = { booking_id: 5002, listing_id: 2001, version }

const fields: Json = {
  booking_id: { type: 'integer', minimum: 1, description: 'Id of the booking' },
  listing_id: { type: 'integer', minimum: 1, description: "Id of the booking's listing" },
  version: {
    type: 'string',
    description: 'Version of the change, which is its position in the feed, written `Y-m-d H:i:s`',
  },
  message_id: { type: 'integer', minimum: 1, description: 'Id of the message' },
}

/**
 * The hints that a partner's server receives, by event (decisions §21). They are the `webhooks` of the OpenAPI
 * document.
 */
export const hints: Json = {
  'booking.changed': hint('booking.changed', {
    operationId: 'receiveBookingChange',
    summary: 'A booking was created or changed',
    description: 'Sent for every change, including your own. Read the booking or the feed.',
    data: place,
  }),
  'message.created': hint('message.created', {
    operationId: 'receiveMessage',
    summary: 'A message was sent',
    description: "Sent for every message of a booking's conversation. Read the messages.",
    data: { ...place, message_id: 8001 },
  }),
  'webhook.test': hint('webhook.test', {
    operationId: 'receiveTest',
    summary: 'A test was requested',
    description: 'Sent by `POST /v1/webhooks/{id}/test`, and never retried.',
    data: {},
  }),
}

interface Event {
  operationId: string
  summary: string
  description: string
  /** Example of the hint's `data`. */
  data: Record<string, number | string>
}

function hint(type: string, { operationId, summary, description, data }: Event): Json {
  const names = Object.keys(data)
  const schema = {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { type: 'string', enum: [type], description: 'Event that the hint announces' },
      timestamp: { type: 'string', format: 'date-time', description: 'Time of the change' },
      data: {
        type: 'object',
        description: names.length > 0 ? 'What changed; the feeds have everything else' : 'Empty',
        required: names,
        properties: Object.fromEntries(names.map((name) => [name, fields[name]])),
      },
    },
  }
  return {
    post: {
      operationId,
      summary,
      tags: ['Webhooks'],
      security: [],
      description: `${description} [The guide](/guide/webhooks) shows how to verify and answer hints.`,
      parameters: [
        header('webhook-id', 'Id of the hint, the same in every retry', 'msg_6927d0f4c8a1b2e3d4f50617'),
        header('webhook-timestamp', 'Time of this attempt, in seconds since 1970', '1799055001'),
        header('webhook-signature', 'Signatures as Standard Webhooks specifies, one for each valid secret'),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema, example: { type, timestamp, data } } },
      },
      responses: {
        204: { description: 'The hint has arrived; any 2xx within 15 s counts' },
        410: { description: 'Turns the webhook off' },
        '4XX': { description: 'The hint is retried later, as after any other status, including a redirect' },
      },
    },
  }
}

function header(name: string, description: string, example?: string): Json {
  return {
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
    ...(example ? { example } : {}),
  }
}
