import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseMoment, versionOf } from '../../cli/partner/dates.ts'
import { readChapters, sectionsOf, servedMarkdown } from '../../cli/partner/guide/chapters.ts'
import { hintBody, hintEvents, makeWebhookSecret } from '../../cli/partner/hint.ts'
import { isLoopback } from '../../cli/partner/proxy.ts'
import {
  allPermissions,
  bookingStatuses,
  hideApiKeys,
  roots,
  supportedProvider,
} from '../../cli/partner/service.ts'
import { calendarStatuses } from '../../cli/shared/calendars.ts'
import { isIdText } from '../../cli/shared/values.ts'
import { digestBookings, isCalendarDate, isVersion, signWebhook } from '../../client/src/index.ts'
import * as digest from '../../src/changes/digest/digest.ts'
import { hintOf, hintEvents as serviceEvents } from '../../src/changes/webhooks/hint.ts'
import { signatureHeaders } from '../../src/changes/webhooks/signature.ts'
import * as clock from '../../src/core/clock.ts'
import * as proxy from '../../src/core/proxy.ts'
import { parseFeedTime, toVersion } from '../../src/host-clock/format.ts'
import * as pathIds from '../../src/http/input/path-ids.ts'
import * as provider from '../../src/http/input/provider.ts'
import { permissions } from '../../src/http/permissions.ts'
import * as httpRoots from '../../src/http/roots.ts'
import * as calendars from '../../src/inventory/calendars/words.ts'
import * as chapters from '../../src/pages/guide/chapters.ts'
import { bookingStatus } from '../../src/stays/bookings/status.ts'
import { testApp } from '../support/app.ts'
import { runs } from '../support/soak.ts'

/**
 * The service and the partners' commands have no code in common (decisions §30). Whatever both must know is held against
 * each other here.
 */

const service = await testApp()

const days = fc
  .tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 0, max: 13 }), fc.integer({ min: 0, max: 32 }))
  .map(([year, month, day]) =>
    [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-'),
  )
const times = fc.constantFrom(
  '',
  ' 00:00:00',
  ' 23:59:59',
  ' 24:00:00',
  'T12:00',
  'T12:00:00.5+02:00',
  ' 1:00:00',
)

test('dates, versions and times are the same to the service and to partners', () => {
  fc.assert(
    fc.property(days, times, (day, time) => {
      const text = day + time
      expect({
        text,
        isDate: isCalendarDate(text),
        isVersion: isVersion(text),
        moment: parseMoment(text),
      }).toEqual({
        text,
        isDate: clock.isCalendarDate(text),
        isVersion: clock.isVersion(text),
        moment: clock.parseMoment(text),
      })
      if (clock.isFeedTime(text)) expect(versionOf(text)).toBe(toVersion(parseFeedTime(text)))
    }),
    runs(500),
  )
})

test('the digest of bookings is the same to the service and to partners', async () => {
  const booking = fc.record({
    booking_id: fc.integer({ min: 1, max: 1e9 }),
    status: fc.constantFrom('pending', 'confirmed', 'cancelled'),
    checkin_at: fc.constantFrom('2026-12-31', '2027-01-01', '2027-01-02', '2027-11-30'),
    checkout_at: fc.constantFrom('2028-01-01', '2028-01-02'),
  })
  const bookings = fc.uniqueArray(booking, { selector: ({ booking_id }) => booking_id, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(bookings, fc.constantFrom('month', 'day'), async (held, level) => {
      const sorted = held.toSorted((one, other) => one.booking_id - other.booking_id)
      expect(await digestBookings(held, level)).toEqual(await digest.digestOf(sorted, level))
    }),
    runs(50),
  )
})

test('a hint of `listen` has the same body and signature as one of the service', async () => {
  const secret = makeWebhookSecret()
  const version = '2027-03-01 10:00:05'
  const hints = { booking_id: 5, listing_id: 7, version }
  expect(hintEvents).toEqual(serviceEvents)
  for (const [type, data] of [
    ['booking.changed', hints],
    ['message.created', { ...hints, message_id: 9 }],
  ] as const) {
    const { timestamp, ...sent } = hintOf(type, data)
    const { timestamp: own, ...other } = JSON.parse(hintBody(type, data))
    expect({ ...other, at: Date.parse(own) }).toEqual({ ...sent, at: Date.parse(timestamp) })
  }
  const message = {
    id: 'msg_1',
    at: new Date('2027-03-01T10:00:06.7Z'),
    body: hintBody('booking.changed', hints),
  }
  expect(await signWebhook(message, secret)).toEqual(signatureHeaders(message, [secret]))
})

test('the statuses of calendars are the same to the service and to partners', () => {
  expect(calendarStatuses).toEqual(calendars.calendarStatuses)
})

test('roots, permissions, statuses, ids and the provider are the same to the service and to partners', () => {
  expect({ roots, allPermissions, supportedProvider, statuses: bookingStatuses }).toEqual({
    roots: httpRoots.roots,
    allPermissions: permissions,
    supportedProvider: provider.supportedProvider,
    statuses: Object.keys(bookingStatus),
  })
  for (const text of ['1', '0', '01', '9007199254740991', '9007199254740992', '-1', '1.0', '', ' 1'])
    expect({ text, isId: isIdText(text) }).toEqual({ text, isId: pathIds.isIdText(text) })
  for (const host of [
    '127.0.0.1',
    '127.8.8.8',
    '[::1]',
    'localhost',
    'a.localhost.',
    '10.0.0.1',
    'localhost.com',
  ])
    expect({ host, isLoopback: isLoopback(host) }).toEqual({ host, isLoopback: proxy.isLoopback(host) })
})

test('the API keys that the service mints are those that `mcp` hides from agents', async () => {
  const { key } = await service.actor()
  expect(hideApiKeys(`before ${key} after`)).toBe('before … after')
})

test("the guide's chapters are the same in the command line as on the service", () => {
  const own = readChapters()
  expect(own).toEqual(chapters.readChapters())
  for (const chapter of own)
    expect({ sections: sectionsOf(chapter), markdown: servedMarkdown(chapter, 'https://a.example') }).toEqual(
      {
        sections: chapters.sectionsOf(chapter),
        markdown: chapters.servedMarkdown(chapter, 'https://a.example', '.md'),
      },
    )
})
