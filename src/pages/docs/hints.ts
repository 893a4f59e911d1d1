import { FindingView } from '../../changes/health/schema.ts'
import { testText } from '../../changes/webhooks/hint.ts'
import { documentSchema, type Json } from './schemas.ts'

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
  text: { type: 'string', description: 'A text with a letter beyond ASCII and a slash' },
}

const finding = {
  code: 'feed_unread',
  severity: 'failing',
  since: '2027-01-04T10:00:01.000000Z',
  message:
    'This key has not read the booking feed for more than 30 minutes: 3 changes are unread, the oldest from 2027-01-04T09:30:01.000000Z',
  guide: 'https://partner-interface.example/guide/quiet-or-broken#feed_unread',
  feed: 'bookings',
  unread: 3,
}

/**
 * What a partner's server receives, by event: hints (decisions §21) and alarms (decisions §29). They are the `webhooks`
 * of the OpenAPI document.
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
    data: { text: testText },
    about: 'A text for trying whether the signature is verified over the body as received',
  }),
  'alarm.opened': alarm('alarm.opened', {
    operationId: 'receiveAlarm',
    summary: 'A finding appeared',
    description: "Sent when `GET /v1/health` of the webhook's own key has a new finding.",
    timestamp: '2027-01-04T10:00:30.000000Z',
    data: { alarm_id: 41, ...finding },
  }),
  'alarm.resolved': alarm('alarm.resolved', {
    operationId: 'receiveAlarmEnd',
    summary: 'A finding is gone',
    description: 'Sent with the same `alarm_id`, and never before `alarm.opened`.',
    timestamp: '2027-01-04T10:12:30.000000Z',
    data: { alarm_id: 41, ...finding, resolved_at: '2027-01-04T10:12:30.000000Z' },
  }),
}

interface Event {
  operationId: string
  summary: string
  description: string
  /** Description of `data`, if it is not a change. */
  about?: string
  /** Example of the hint's `data`. */
  data: Record<string, number | string>
}

function hint(type: string, event: Event): Json {
  const names = Object.keys(event.data)
  const data = {
    type: 'object',
    description: event.about ?? 'What changed; the feeds have everything else',
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, fields[name]])),
  }
  return post(type, { ...event, timestamp }, data)
}

/** An alarm's `data` is the finding, with the alarm's id and, once it is gone, the time of its end. */
function alarm(type: string, event: Event & { timestamp: string }): Json {
  const { properties, required } = documentSchema({ ...FindingView, title: undefined }, new Map())
  const end = { type: 'string', format: 'date-time', description: 'Time at which the finding was gone' }
  const isEnd = 'resolved_at' in event.data
  const data = {
    type: 'object',
    description: 'The finding, with the id of its alarm',
    required: ['alarm_id', ...required, ...(isEnd ? ['resolved_at'] : [])],
    properties: {
      alarm_id: { type: 'integer', minimum: 1, description: 'Id of the alarm' },
      ...properties,
      ...(isEnd ? { resolved_at: end } : {}),
    },
  }
  return post(type, event, data)
}

function post(type: string, event: Event & { timestamp: string }, dataSchema: Json): Json {
  const { operationId, summary, description, timestamp, data } = event
  const schema = {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { type: 'string', enum: [type], description: 'Event that the post announces' },
      timestamp: { type: 'string', format: 'date-time', description: 'Time of the event' },
      data: dataSchema,
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
