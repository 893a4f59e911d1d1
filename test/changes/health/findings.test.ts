import { describe, expect, test } from 'vitest'
import {
  countedUnread,
  expiryMilliseconds,
  type FeedHealth,
  type Finding,
  failingMilliseconds,
  findingsBySubject,
  findingsOf,
  type HealthFacts,
  identityOf,
  reportedRequests,
  statusOf,
  unreadMilliseconds,
} from '../../../src/changes/health/findings.ts'
import type { CalendarFacts, InventoryFacts } from '../../../src/inventory/facts-store.ts'

const now = new Date('2026-11-26T12:00:00Z')
const ago = (milliseconds: number) => new Date(now.getTime() - milliseconds)
const second = 1000
const minute = 60 * second
const hour = 60 * minute

const nothingUnread: FeedHealth = { newest: null, read: null }
/** A feed whose oldest unread change has the given age, read by a key that last moved forward at `movedAt`. */
const unread = (age: number, movedAt: Date | null = null, count = 3): FeedHealth => ({
  newest: now,
  read: {
    version: null,
    at: now,
    movedAt,
    hasBegun: true,
    aheadSince: null,
    unread: { count, oldest: ago(age) },
  },
})

/** A feed with an unread change whose version is a day ahead of the clock, read at the given time. */
const unreadAhead = (at: Date): FeedHealth => ({
  newest: now,
  read: {
    version: null,
    at,
    movedAt: null,
    hasBegun: true,
    aheadSince: null,
    unread: { count: 1, oldest: ago(-24 * 60 * minute) },
  },
})

const nothingNoted: InventoryFacts = { unpricedListings: [], openListings: [], calendars: [] }
/** A calendar that has been read well every quarter of an hour, with the given changes. */
const calendar = (fields: Partial<CalendarFacts> = {}): CalendarFacts => ({
  room_id: 7,
  status: 'ok',
  set_at: ago(30 * 24 * hour),
  read_at: ago(minute),
  refresh_seconds: null,
  conflicts: [],
  skipped: 0,
  ...fields,
})
const failing = (fields: Partial<CalendarFacts>) =>
  noting({ calendars: [calendar({ status: 'failing', ...fields })] })
const noting = (some: Partial<InventoryFacts>) => ({ inventory: { ...nothingNoted, ...some } })

/** A key with which everything is well. */
const well: HealthFacts = {
  now,
  realNow: now,
  feeds: { bookings: nothingUnread, messages: nothingUnread },
  consumers: [],
  webhooks: [],
  keyExpiresAt: null,
  requests: { succeeded: 0, refused: 0, limited: 0, failed: 0, unanswered: 0 },
  refusedOperations: [],
  inventory: nothingNoted,
}

const consumer = (age: number, progress: number, name = 'one') => ({
  feed: 'bookings' as const,
  name,
  progressedAt: ago(progress),
  pending: { count: 7, oldest: ago(age) },
})
const webhook = (fields: object) => ({
  id: 4,
  enabled: true,
  disabled_at: null,
  disabled_reason: null,
  failing_since: null,
  ...fields,
})
const off = (disabled_reason: string) => webhook({ enabled: false, disabled_at: ago(5), disabled_reason })
const requests = (some: object) => ({ ...well.requests, ...some })

const codesOf = (facts: Partial<HealthFacts>) => findingsOf({ ...well, ...facts }).map(({ code }) => code)

/** One row for each side of every threshold. */
const table: [title: string, facts: Partial<HealthFacts>, codes: string[]][] = [
  ['nothing', {}, []],
  ['a feed that was never read', { feeds: { bookings: nothingUnread, messages: nothingUnread } }, []],
  [
    'an unread change of exactly 30 minutes',
    { feeds: { bookings: unread(unreadMilliseconds), messages: nothingUnread } },
    [],
  ],
  [
    'an unread change of more than 30 minutes',
    { feeds: { bookings: unread(unreadMilliseconds + 1), messages: nothingUnread } },
    ['feed_unread'],
  ],
  [
    'an unread message of more than 30 minutes',
    { feeds: { bookings: nothingUnread, messages: unread(unreadMilliseconds + 1) } },
    ['feed_unread'],
  ],
  [
    'an old feed that was read on exactly 30 minutes ago',
    {
      feeds: { bookings: unread(99 * unreadMilliseconds, ago(unreadMilliseconds)), messages: nothingUnread },
    },
    [],
  ],
  [
    'an old feed that was read on more than 30 minutes ago',
    {
      feeds: {
        bookings: unread(99 * unreadMilliseconds, ago(unreadMilliseconds + 1)),
        messages: nothingUnread,
      },
    },
    ['feed_unread'],
  ],
  [
    'an unread change whose version is ahead of the clock, and a feed that was read exactly 30 minutes ago',
    { feeds: { bookings: unreadAhead(ago(unreadMilliseconds)), messages: nothingUnread } },
    [],
  ],
  [
    'an unread change whose version is ahead of the clock, and a feed that was read more than 30 minutes ago',
    { feeds: { bookings: unreadAhead(ago(unreadMilliseconds + 1)), messages: nothingUnread } },
    ['feed_unread'],
  ],
  [
    'a pending change whose version is ahead of the clock, and a feed that was just read',
    {
      feeds: { bookings: unreadAhead(now), messages: nothingUnread },
      consumers: [consumer(-99 * minute, 99 * minute)],
    },
    [],
  ],
  [
    'a pending change whose version is ahead of the clock, and a feed that was read more than 30 minutes ago',
    {
      feeds: { bookings: unreadAhead(ago(unreadMilliseconds + 1)), messages: nothingUnread },
      consumers: [consumer(-99 * minute, 99 * minute)],
    },
    ['consumer_behind'],
  ],
  ['no permission to read the feeds', { feeds: null, consumers: [consumer(99 * minute, 99 * minute)] }, []],
  [
    'a feed that a consumer follows, however old the own position',
    {
      feeds: { bookings: unread(99 * minute), messages: nothingUnread },
      consumers: [consumer(minute, minute)],
    },
    [],
  ],
  [
    'a consumer in the other feed',
    {
      feeds: { bookings: nothingUnread, messages: unread(99 * minute) },
      consumers: [consumer(minute, minute)],
    },
    ['feed_unread'],
  ],
  ['a pending change of exactly 30 minutes', { consumers: [consumer(unreadMilliseconds, 99 * minute)] }, []],
  [
    'a pending change of more than 30 minutes',
    { consumers: [consumer(unreadMilliseconds + 1, 99 * minute)] },
    ['consumer_behind'],
  ],
  [
    'a consumer that moved on exactly 30 minutes ago',
    { consumers: [consumer(99 * minute, unreadMilliseconds)] },
    [],
  ],
  [
    'two consumers, of which one is behind',
    { consumers: [consumer(minute, minute, 'fine'), consumer(99 * minute, 99 * minute)] },
    ['consumer_behind'],
  ],
  ['a webhook that failed for too long', { webhooks: [off('failing')] }, ['webhook_off']],
  ['a webhook that responded with 410', { webhooks: [off('gone')] }, ['webhook_off']],
  ['a webhook that the partner turned off', { webhooks: [off('partner')] }, []],
  ['a webhook whose key had ended', { webhooks: [off('key_ended')] }, []],
  ['a webhook that an administrator turned off', { webhooks: [off('administrator')] }, []],
  [
    'a webhook that has failed for exactly 15 minutes',
    { webhooks: [webhook({ failing_since: ago(failingMilliseconds) })] },
    [],
  ],
  [
    'a webhook that has failed for more than 15 minutes',
    { webhooks: [webhook({ failing_since: ago(failingMilliseconds + 1) })] },
    ['webhook_failing'],
  ],
  [
    'a webhook that failed before it was turned off',
    { webhooks: [webhook({ enabled: false, failing_since: ago(99 * minute) })] },
    [],
  ],
  [
    'a key that expires in more than 14 days',
    { keyExpiresAt: new Date(now.getTime() + expiryMilliseconds + 1) },
    [],
  ],
  [
    'a key that expires in exactly 14 days',
    { keyExpiresAt: new Date(now.getTime() + expiryMilliseconds) },
    ['key_expires'],
  ],
  ['19 limited requests', { requests: requests({ limited: reportedRequests - 1 }) }, []],
  ['20 limited requests', { requests: requests({ limited: reportedRequests }) }, ['limit_reached']],
  ['19 refused requests', { requests: requests({ refused: reportedRequests - 1 }) }, []],
  [
    '20 refused requests and nothing else',
    { requests: requests({ refused: reportedRequests }) },
    ['requests_refused'],
  ],
  ['20 refused requests of 40', { requests: requests({ refused: 20, succeeded: 20 }) }, []],
  ['21 refused requests of 41', { requests: requests({ refused: 21, succeeded: 20 }) }, ['requests_refused']],
  [
    'half of the requests refused, the rest of every other kind',
    { requests: { refused: 20, succeeded: 5, limited: 5, failed: 5, unanswered: 5 } },
    [],
  ],
  ['a listing without a price', noting({ unpricedListings: [12] }), ['listing_without_price']],
  ['a listing whose nights are open', noting({ openListings: [12] }), ['nights_open']],
  ['a key that may not know the listings', { inventory: null }, []],
  [
    'a calendar that fails, and was read well exactly 6 h 15 min ago',
    failing({ read_at: ago(6.25 * hour) }),
    [],
  ],
  [
    'a calendar that fails, and was read well more than 6 h 15 min ago',
    failing({ read_at: ago(6.25 * hour + 1) }),
    ['calendar_failing'],
  ],
  [
    'a calendar that fails, asks for an interval of 2 h, and was read well exactly 8 h ago',
    failing({ read_at: ago(8 * hour), refresh_seconds: 7200 }),
    [],
  ],
  [
    'a calendar that fails, asks for an interval of 2 h, and was read well more than 8 h ago',
    failing({ read_at: ago(8 * hour + 1), refresh_seconds: 7200 }),
    ['calendar_failing'],
  ],
  [
    'a calendar that has never been read, and was set exactly 6 h 15 min ago',
    failing({ read_at: null, set_at: ago(6.25 * hour) }),
    [],
  ],
  [
    'a calendar that has never been read, and was set more than 6 h 15 min ago',
    failing({ read_at: null, set_at: ago(6.25 * hour + 1) }),
    ['calendar_failing'],
  ],
  [
    'a calendar whose last attempt has not failed, however long ago it was',
    noting({
      calendars: [
        calendar({ read_at: ago(99 * hour) }),
        calendar({ status: 'holding', read_at: ago(99 * hour) }),
      ],
    }),
    [],
  ],
  [
    'a calendar with a conflict today',
    noting({ calendars: [calendar({ conflicts: ['2026-11-26'] })] }),
    ['calendar_conflict'],
  ],
  [
    'a calendar whose conflicts have passed',
    noting({ calendars: [calendar({ conflicts: ['2026-11-25'] })] }),
    [],
  ],
  [
    'a calendar with an event that was skipped',
    noting({ calendars: [calendar({ skipped: 1 })] }),
    ['calendar_incomplete'],
  ],
]

test.each(table)('%s', (_, facts, codes) => {
  expect(codesOf(facts)).toEqual(codes)
})

test('the sandbox moves its own clock, but a key expires in real time everywhere', () => {
  const keyExpiresAt = new Date(now.getTime() + expiryMilliseconds + minute)
  const ahead = new Date(now.getTime() + 30 * 86_400_000)
  expect(codesOf({ keyExpiresAt, now: ahead })).toEqual([])
  expect(codesOf({ keyExpiresAt, realNow: new Date(now.getTime() + 2 * minute) })).toEqual(['key_expires'])
})

describe('a finding', () => {
  const ids = Array.from({ length: 21 }, (_, index) => index + 1)
  const noted = noting({
    unpricedListings: ids,
    openListings: [3, 5],
    calendars: [
      calendar({ room_id: 1, status: 'failing', read_at: ago(10 * hour), skipped: 2 }),
      calendar({ room_id: 2, status: 'failing', read_at: ago(20 * hour) }),
      calendar({ room_id: 3, conflicts: ['2026-11-25', '2026-12-24'] }),
    ],
  })
  const all = findingsOf({
    ...well,
    feeds: { bookings: unread(40 * minute), messages: unread(50 * minute, null, countedUnread) },
    webhooks: [off('gone'), webhook({ id: 5, failing_since: ago(20 * minute) })],
    keyExpiresAt: new Date(now.getTime() + 86_400_000),
    requests: requests({ limited: 20, refused: 41 }),
    ...noted,
  })
  const of = (code: string) => all.find((finding) => finding.code === code) as Finding

  test('comes worst first, then oldest first, and without a moment last', () => {
    expect(all.map(({ code, details: { feed } }) => (feed ? `${code} ${feed}` : code))).toEqual([
      'calendar_failing',
      'feed_unread messages',
      'feed_unread bookings',
      'webhook_off',
      'calendar_conflict',
      'key_expires',
      'webhook_failing',
      'limit_reached',
      'requests_refused',
      'listing_without_price',
      'calendar_incomplete',
      'nights_open',
    ])
    expect(statusOf(all)).toBe('failing')
    expect(statusOf(all.filter(({ severity }) => severity === 'warning'))).toBe('warning')
    expect(statusOf([])).toBe('ok')
  })

  test('says since when it holds', () => {
    expect({
      unread: of('feed_unread').since,
      off: of('webhook_off').since,
      failing: of('webhook_failing').since,
      expires: of('key_expires').since,
      limited: of('limit_reached').since,
      calendars: of('calendar_failing').since,
      conflict: of('calendar_conflict').since,
      incomplete: of('calendar_incomplete').since,
      open: of('nights_open').since,
    }).toEqual({
      unread: ago(20 * minute),
      off: ago(5),
      failing: ago(5 * minute),
      expires: new Date(now.getTime() + 86_400_000 - expiryMilliseconds),
      limited: null,
      calendars: ago(13.75 * hour),
      conflict: null,
      incomplete: null,
      open: null,
    })
  })

  test('names what it is about', () => {
    expect({
      unread: of('feed_unread').details,
      off: of('webhook_off').details,
      limited: of('limit_reached').details,
      refused: of('requests_refused').details,
      count: of('listing_without_price').details.count,
      named: of('listing_without_price').details.listing_ids,
      failing: of('calendar_failing').details,
      conflict: of('calendar_conflict').details,
      incomplete: of('calendar_incomplete').details,
      open: of('nights_open').details,
    }).toEqual({
      unread: { feed: 'messages', unread: countedUnread },
      off: { webhook_id: 4 },
      limited: { limited: 20 },
      refused: { refused: 41 },
      count: 21,
      named: ids.slice(0, 20),
      failing: { room_ids: [1, 2], count: 2 },
      conflict: { room_ids: [3], count: 1 },
      incomplete: { room_ids: [1], count: 1 },
      open: { listing_ids: [3, 5], count: 2 },
    })
    expect(of('feed_unread').message).toContain(`${countedUnread} or more changes are unread`)
  })

  test('about several listings or calendars is taken apart for alarms, each with its own moment', () => {
    const apart = findingsBySubject({ ...well, ...noted })
    expect(apart.map(({ code, since, details }) => ({ code, since, ...details }))).toEqual([
      { code: 'calendar_failing', since: ago(13.75 * hour), room_ids: [2], count: 1 },
      { code: 'calendar_failing', since: ago(3.75 * hour), room_ids: [1], count: 1 },
      { code: 'calendar_conflict', since: null, room_ids: [3], count: 1 },
      ...ids.map((id) => ({ code: 'listing_without_price', since: null, listing_ids: [id], count: 1 })),
      { code: 'nights_open', since: null, listing_ids: [3], count: 1 },
      { code: 'nights_open', since: null, listing_ids: [5], count: 1 },
      { code: 'calendar_incomplete', since: null, room_ids: [1], count: 1 },
    ])
    expect(new Set(apart.map(identityOf)).size).toBe(apart.length)
  })

  test('keeps its identity while it lasts, and shares it with no other', () => {
    expect(new Set(all.map(identityOf)).size).toBe(all.length)
    const longer = findingsOf({
      ...well,
      feeds: { bookings: unread(400 * minute, null, 99), messages: nothingUnread },
    })
    expect(longer.map(identityOf)).toEqual(['feed_unread/bookings'])
    expect(all.map(identityOf)).toContain('feed_unread/bookings')
  })
})
