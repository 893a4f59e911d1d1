import { describe, test } from 'vitest'
import { whatIsRecorded } from '../../src/certification/record/recording.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import type { Observed } from '../../src/sandbox/visit.ts'

const feed = 'GET /sandbox/integrations/:provider/bookings'
const detail = 'GET /sandbox/integrations/:provider/bookings/:id'
const push = 'POST /sandbox/integrations/:provider/availability'
const arrivedAt = new Date('2030-01-01T00:00:00Z')
const answeredAt = new Date('2030-01-01T00:00:01Z')
const acknowledged = new Date('2029-12-31T00:00:00Z')
const version = new Date('2030-01-01T00:00:10Z')
const item = {
  booking_id: 5001,
  listing_id: 2001,
  room_type_id: 3001,
  status: 'confirmed',
  checkin_at: '2030-02-01',
  checkout_at: '2030-02-03',
  version: toVersion(version),
}
const delivery = {
  certification_id: 7,
  booking_id: 5001,
  version,
  status: 'confirmed',
  checkin_at: '2030-02-01',
  checkout_at: '2030-02-03',
  expires_at: new Date(answeredAt.getTime() + 5 * 3_600_000),
}

/** Returns what is recorded of a request to the feed that was answered with one booking, changed by `more`. */
function recorded(more: Partial<Observed> = {}) {
  const seen: Observed = {
    operation: feed,
    at: arrivedAt,
    sandboxId: 1,
    keyId: 2,
    requestId: 'request',
    status: 200,
    fault: null,
    query: {},
    sent: undefined,
    data: { Bookings: [item] },
    ...more,
  }
  return whatIsRecorded(seen, {
    certificationId: 7,
    ordinal: 3,
    secret: 'secret',
    acknowledged,
    now: answeredAt,
  })
}

/** Returns what a request sent, as the pipeline passes it on. */
const sending = (body: unknown, idempotencyKey?: string) => ({ body, idempotencyKey }) as Observed['sent']

test('the record of a request has its times, its response and no sent value', ({ expect }) => {
  const sent = sending({ text: 'secret text' }, 'secret key')
  const { record } = recorded({ operation: 'POST /sandbox/bookings', sent, data: null })
  expect(record).toEqual({
    certification_id: 7,
    ordinal: 3,
    operation: 'POST /sandbox/bookings',
    at: arrivedAt,
    answered_at: answeredAt,
    request_id: 'request',
    status: 200,
    fault: null,
    is_page: false,
    is_first: false,
    from: null,
    items: 0,
    nights: 0,
    body_hash: expect.any(String),
    key_hash: expect.any(String),
    expires_at: delivery.expires_at,
  })
  expect(JSON.stringify(record)).not.toContain('secret')
})

test('two records show whether the same body and the same key were sent', ({ expect }) => {
  const hashes = (body: unknown, key?: string) => {
    const { body_hash, key_hash } = recorded({ sent: sending(body, key) }).record
    return { body_hash, key_hash }
  }
  expect(hashes({ a: 1, b: 2 }, 'key')).toEqual(hashes({ b: 2, a: 1 }, 'key'))
  expect(hashes({ a: 1 }).body_hash).not.toBe(hashes({ a: 2 }).body_hash)
  expect(hashes({}, 'key').key_hash).not.toBe(hashes({}, 'other key').key_hash)
  expect(hashes(undefined)).toEqual({ body_hash: null, key_hash: null })
})

describe('the place of a page', () => {
  const after = '2030-01-01 00:00:05'
  const pages: { title: string; seen: Partial<Observed>; page: object }[] = [
    {
      title: 'is the beginning of the feed without a position',
      seen: {},
      page: { is_page: true, is_first: true, from: null },
    },
    {
      title: 'is the position that was sent',
      seen: { query: { updated_after: after } },
      page: { is_page: true, is_first: true, from: new Date('2030-01-01T00:00:05Z') },
    },
    {
      title: 'is the position that the consumer has acknowledged',
      seen: { query: { consumer: 'sync' } },
      page: { is_page: true, is_first: true, from: acknowledged },
    },
    {
      title: 'of a numbered page is just before its first booking',
      seen: { query: { page: 2, consumer: 'sync' } },
      page: { is_page: true, is_first: false, from: new Date(version.getTime() - 1000) },
    },
    {
      title: 'of an empty numbered page is unknown',
      seen: { query: { page: 2 }, data: { Bookings: [] } },
      page: { is_page: true, is_first: false, from: null },
    },
    {
      title: 'of a cursor that cannot be read is unknown',
      seen: { query: { cursor: 'unreadable' } },
      page: { is_page: true, is_first: false, from: null },
    },
    {
      title: 'is recorded only if the feed responded with a page',
      seen: { status: 429, data: null },
      page: { is_page: false, is_first: false, from: null },
    },
    {
      title: 'is recorded of no other route',
      seen: { operation: detail, data: null },
      page: { is_page: false, is_first: false, from: null },
    },
  ]

  test.for(pages)('$title', ({ seen, page }, { expect }) => {
    const { is_page, is_first, from } = recorded(seen).record
    expect({ is_page, is_first, from }).toEqual(page)
  })
})

describe('a fault', () => {
  const faults: { title: string; seen: Partial<Observed>; fault: string | null }[] = [
    { title: 'that was injected is recorded', seen: { fault: 'lost_response' }, fault: 'lost_response' },
    { title: 'is recorded of a real 429', seen: { status: 429, data: null }, fault: 'rate_limited' },
    { title: 'is recorded of a real 5xx', seen: { status: 503, data: null }, fault: 'internal_error' },
    {
      title: 'that was injected comes before the status',
      seen: { status: 502, fault: 'bad_gateway' },
      fault: 'bad_gateway',
    },
    { title: 'is not recorded of a refusal', seen: { status: 422, data: null }, fault: null },
  ]

  test.for(faults)('$title', ({ seen, fault }, { expect }) => {
    expect(recorded(seen).record.fault).toBe(fault)
  })
})

describe('a booking version counts as delivered', () => {
  const rows: { title: string; seen: Partial<Observed>; deliveries: object[] }[] = [
    { title: 'by a page of the feed', seen: {}, deliveries: [delivery] },
    {
      title: 'by its detail',
      seen: { operation: detail, data: { Booking: { ...item, meta: { version: item.version } } } },
      deliveries: [delivery],
    },
    { title: 'even if the response was slow', seen: { fault: 'slow' }, deliveries: [delivery] },
    { title: 'but not by a lost response', seen: { fault: 'lost_response' }, deliveries: [] },
    { title: 'but not by a response that was cut off', seen: { fault: 'cut_response' }, deliveries: [] },
    { title: 'but not if the client has disconnected', seen: { fault: 'broken' }, deliveries: [] },
    { title: 'but not by an error', seen: { status: 500, data: null }, deliveries: [] },
    { title: 'but not by another route', seen: { operation: 'GET /sandbox/bookings/:id' }, deliveries: [] },
  ]

  test.for(rows)('$title', ({ seen, deliveries }, { expect }) => {
    expect(recorded(seen).deliveries).toEqual(deliveries)
  })
})

describe('the size of a push', () => {
  const range = (start_date: unknown, end_date: unknown) => ({ start_date, end_date })
  const rows: { title: string; body: unknown; size: { items: number; nights: number } }[] = [
    {
      title: 'is its items and the nights that they cover',
      body: { data: [range('2030-01-01', '2030-01-07'), range('2030-02-01', '2030-02-01')] },
      size: { items: 2, nights: 8 },
    },
    {
      title: 'counts an item without nights that can be counted',
      body: {
        data: [range({ toString: 1 }, []), null, 7, range('2030-01-07', '2030-01-01'), range('x', 'y')],
      },
      size: { items: 5, nights: 0 },
    },
    { title: 'is zero without a list', body: { data: 'all' }, size: { items: 0, nights: 0 } },
    { title: 'is zero without a body', body: undefined, size: { items: 0, nights: 0 } },
  ]

  test.for(rows)('$title', ({ body, size }, { expect }) => {
    const { items, nights } = recorded({ operation: push, sent: sending(body), data: null }).record
    expect({ items, nights }).toEqual(size)
  })
})
