import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost } from '../../src/access/hosts/store.ts'
import { mintKey } from '../../src/access/keys/store.ts'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/core/config.ts'
import { supportedProvider } from '../../src/http/input/provider.ts'
import { permissions } from '../../src/http/permissions.ts'
import { exampleIds, sandboxIds } from '../../src/pages/docs/examples.ts'
import { compose } from '../../src/process/wiring.ts'
import { storeCertification } from '../support/certification.ts'
import { readFixture } from '../support/fixtures.ts'
import { keyedRoutes, operationOf } from '../support/routes.ts'
import { endingWrites } from '../support/valid-bodies.ts'

/**
 * Records the example responses of the documentation by sending the requests to a fresh sandbox: `bin/bun
 * test/scripts/record-examples.ts`. The clock is frozen, ids are sequential and key usage is not counted, so a run
 * changes an example only if the service's response has changed.
 */
let uuids = 0
crypto.randomUUID = () => {
  uuids += 1
  return `00000000-0000-4000-8000-${String(uuids).padStart(12, '0')}`
}
const now = new Date('2027-01-04T09:30:00Z')
const dataDir = await mkdtemp(join(tmpdir(), 'partner-examples-'))
const context = await compose(
  readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'silent', WEBHOOKS_ALLOW_PRIVATE: 'on' }),
  { clock: () => now },
)
const { live } = context
live.usage.track = () => {}
const app = createApp(context)
const host = await createHost(live.db, live.clock, { name: 'Casa Gràcia', email: 'host@example.com' })
const { key, record: keyRecord } = await mintKey(live.db, live.clock, {
  host: host.id,
  name: 'Docs',
  permissions: [...permissions],
})

const hooks = { url: 'https://hooks.example.com/partner', events: ['booking.changed', 'message.created'] }
/** An example of a successful delivery, which would otherwise need a server on the internet. */
const delivered = {
  id: exampleIds.deliveries,
  status: 'delivered',
  response_status: 200,
  milliseconds: 84,
  error: null,
}
/** The calendar of a room. Its server would otherwise be on the internet. */
const calendarText = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'BEGIN:VEVENT',
  'UID:1@example.com',
  'SUMMARY:Reserved',
  'DTSTART;VALUE=DATE:20270610',
  'DTEND;VALUE=DATE:20270614',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n')
const calendarServer = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () => new Response(calendarText, { headers: { 'content-type': 'text/calendar' } }),
})
const calendarAddress = 'https://calendars.example.com/rooms/4001.ics'
const secret = `whsec_${btoa('an-example-and-not-a-real-secret')}`
const unit = { listing_id: 2001, room_type_id: 3001 }
const integrations = '/integrations/{provider}'
const requests: Record<string, unknown> = {
  'POST /users': await readFixture('users/maria'),
  'POST /bookings': { user_id: 1001, ...unit, ...(await readFixture('bookings/winter-stay')) },
  'POST /listings': await readFixture('demo/listing'),
  'PATCH /listings/{id}': {
    name: 'Sandbox House, renovated',
    room_types: [
      {
        id: 3001,
        prices: { base_price: 640 },
        // The examples of calendars show this one.
        rooms: [{ id: 4001, availability: { ical: calendarAddress } }],
      },
    ],
  },
  'POST /bookings/{booking_id}/confirm': {},
  'POST /bookings/{booking_id}/cancel': { reason: 'Guest fell ill' },
  'POST /bookings/{booking_id}/messages': { message: { text: 'Welcome! Check-in is from 15:00.' } },
  'POST /bookings/{booking_id}/messages/guest': { message: { text: 'We arrive around 18:00.' } },
  [`POST ${integrations}/provider-key`]: { provider_api_key: 'your-key-at-the-provider' },
  [`POST ${integrations}/availability`]: {
    data: [{ ...unit, available: 2, start_date: '2027-03-01', end_date: '2027-03-31' }],
  },
  'POST /webhooks': hooks,
  'PATCH /webhooks/{id}': { events: ['booking.changed'] },
  [`PUT ${integrations}/bookings/consumers/{name}`]: { acknowledged: null },
  [`PUT ${integrations}/messages/consumers/{name}`]: { acknowledged: null },
  'POST /scenarios/{name}': { listing_id: 2001, count: 1 },
  'PUT /faults': { rules: [{ fault: 'lost_response', operation: 'createBooking' }] },
  'POST /clock': { advance_seconds: 90_000 },
  'POST /certifications': { profiles: ['feed', 'bookings'], seed: 'october' },
  'PUT /certifications/{id}/state': {
    bookings: [{ booking_id: 5002, status: 'pending', checkin_at: '2027-01-18', checkout_at: '2027-04-20' }],
  },
  [`POST ${integrations}/calendars/{room_id}/read`]: { accept: false },
  [`POST ${integrations}/calendars/check`]: { text: calendarText, room_id: 4001 },
  [`POST ${integrations}/rates`]: {
    data: [{ ...unit, base_price: 640, currency: 'EUR', price_jul: 740, price_aug: 740 }],
  },
}

/** Operations that must come after all others, in this order, because they change what the others show. */
const last = [
  `DELETE ${integrations}/bookings/consumers/{name}`,
  `DELETE ${integrations}/messages/consumers/{name}`,
  'POST /webhooks/{id}/secret/rotate',
  'POST /webhooks/{id}/test',
  'GET /webhooks/{id}/deliveries',
  'POST /webhooks/{id}/deliveries/{delivery_id}/resend',
  'DELETE /webhooks/{id}',
  ...endingWrites,
  `POST ${integrations}/calendars/{room_id}/read`,
  `GET ${integrations}/calendars`,
  `GET ${integrations}/calendars/{room_id}`,
  'POST /scenarios/{name}',
  'PUT /faults',
  'GET /faults',
  'DELETE /faults',
  'POST /clock',
  'DELETE ',
  'POST /certifications',
  'GET /certifications/{id}',
  'GET /certifications',
  'DELETE /certifications/{id}',
  'PUT /certifications/{id}/state',
  'GET /certifications/{id}/report',
]

/** All operations of the sandbox: first those with a body, then those without one, then the last. */
function allOperations(): string[] {
  const all = keyedRoutes({ app }, '/sandbox').map((route) => ({ ...route, name: operationOf(route) }))
  const missing = all.find(({ name, takesBody }) => takesBody && requests[name] === undefined)
  if (missing) throw new Error(`${missing.name} has no example body: add one to \`requests\` in this file`)
  const withoutBody = all.filter(({ takesBody }) => !takesBody).map(({ name }) => name)
  const sooner = [...Object.keys(requests), ...withoutBody].filter((name) => !last.includes(name))
  return [...sooner, ...last]
}

function fillPath(path: string): string {
  return path.replace('{provider}', supportedProvider).replace(/(\w+)\/\{\w+\}/g, (_, collection: string) => {
    const id = realIds[collection] ?? sandboxIds[collection] ?? exampleIds[collection]
    if (id === undefined)
      throw new Error(`${path} has no example id for "${collection}": add one to src/pages/docs/examples.ts`)
    return `${collection}/${id}`
  })
}

/** Ids that differ in every run. */
const realIds: Record<string, string> = {}

interface Preparation {
  query?: string
  prepare?(): Promise<unknown>
  settle?(item: { id?: unknown }): void
}

/** Replaces the values that differ in every run. */
function settleCertification(certification: { id?: unknown }): void {
  const started_at = '2027-01-04T09:30:00.000000Z'
  Object.assign(certification, { id: Number(exampleIds.certifications), started_at })
}

const owner = { keyId: keyRecord.id, hostId: host.id }

/** The data that a request needs for a meaningful example. */
const preparations: Record<string, Preparation> = {
  'POST /certifications': {
    settle(certification) {
      realIds.certifications = String(certification.id)
      settleCertification(certification)
    },
  },
  'GET /certifications/{id}': { settle: settleCertification },
  'GET /certifications': { settle: settleCertification },
  'PUT /certifications/{id}/state': {
    async prepare() {
      realIds.certifications = String(await storeCertification(live.db, owner, 'asked'))
    },
    settle: settleCertification,
  },
  'GET /certifications/{id}/report': {
    async prepare() {
      realIds.certifications = String(await storeCertification(live.db, owner, 'passed'))
    },
    settle: (answer) =>
      Object.assign(answer, { report: 'eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJodHRwcyJ9.c2lnbmF0dXJl' }),
  },
  'POST /webhooks': { settle: (webhook) => Object.assign(webhook, { secret }) },
  'POST /webhooks/{id}/secret/rotate': { settle: (webhook) => Object.assign(webhook, { secret }) },
  'POST /webhooks/{id}/test': {
    settle(delivery) {
      realIds.deliveries = String(delivery.id)
      Object.assign(delivery, delivered)
    },
  },
  'GET /webhooks/{id}/deliveries': { settle: (delivery) => Object.assign(delivery, delivered) },
  'POST /webhooks/{id}/deliveries/{delivery_id}/resend': {
    settle: (delivery) => Object.assign(delivery, { ...delivered, status: 'waiting' }),
  },
  [`GET ${integrations}/availability/nights`]: {
    query: '?listing_id=2001&room_type_id=3001&start_date=2027-03-01&end_date=2027-03-02',
  },
  [`POST ${integrations}/calendars/{room_id}/read`]: {
    prepare() {
      const availability = { ical: `http://127.0.0.1:${calendarServer.port}/4001.ics` }
      const room_types = [{ id: 3001, rooms: [{ id: 4001, availability }] }]
      return ask('PATCH', '/listings/2001', requestId, { room_types })
    },
    settle: (answer) => Object.assign((answer as { calendar: object }).calendar, { url: calendarAddress }),
  },
  [`GET ${integrations}/calendars/{room_id}`]: {
    settle: (answer) => Object.assign((answer as { calendar: object }).calendar, { url: calendarAddress }),
  },
  [`GET ${integrations}/calendars`]: {
    settle: (answer) =>
      Object.assign((answer as { calendars: object[] }).calendars[0] as object, { url: calendarAddress }),
  },
  'GET /requests': {
    query: '?status=4xx',
    async prepare() {
      await ask('POST', '/users', 'a-refused-request', { name: 'Ada Lovelace' })
      // A request is logged after its response is sent.
      await Bun.sleep(50)
      await context.live.journal.flush()
    },
    // These values differ in every run.
    settle(entry) {
      Object.assign(entry, { id: '5d0f3a9c1b7e42d8a6c4e19f70b2d35300', duration_ms: 2.4 })
    },
  },
}

function ask(method: string, path: string, requestId: string, body: object | undefined): Promise<Response> {
  return app.handle(
    new Request(`http://localhost/sandbox${path}`, {
      method,
      headers: { 'x-api-key': key, 'x-request-id': requestId },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }),
  )
}

/** All requests have the same id, so that a new operation changes no other's example. */
const requestId = 'example-1'

async function record(): Promise<Record<string, { status: number; body: unknown }>> {
  const responses: Record<string, { status: number; body: unknown }> = {}
  for (const operation of allOperations()) {
    const [method = '', path = ''] = operation.split(' ')
    const { query = '', prepare, settle } = preparations[operation] ?? {}
    await prepare?.()
    const response = await ask(method, fillPath(path) + query, requestId, requests[operation] as object)
    // biome-ignore lint/suspicious/noExplicitAny: whatever the operation responds
    const envelope: any = await response.json()
    if (!response.ok) throw new Error(`${operation}: ${JSON.stringify(envelope)}`)
    delete envelope.meta.sandbox
    if (settle) [envelope.data].flat().forEach(settle)
    responses[operation] = { status: response.status, body: envelope }
  }
  return responses
}

try {
  const responses = await record()
  const folder = new URL('../../fixtures/examples/', import.meta.url)
  await writeFile(new URL('requests.json', folder), `${JSON.stringify(requests, null, 2)}\n`)
  await writeFile(new URL('responses.json', folder), `${JSON.stringify(responses, null, 2)}\n`)
  await Bun.$`${process.execPath} x biome format --write ${folder.pathname}`.quiet()
} finally {
  await calendarServer.stop(true)
  await context.close()
  await rm(dataDir, { recursive: true, force: true })
}
