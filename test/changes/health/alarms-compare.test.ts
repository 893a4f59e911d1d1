import { describe, expect, test } from 'vitest'
import { compare, toldOfEnd, untold } from '../../../src/changes/health/alarms/compare.ts'
import type { Alarm } from '../../../src/changes/health/alarms/model.ts'
import type { Finding } from '../../../src/changes/health/findings.ts'

const finding = (feed: 'bookings' | 'messages'): Finding => ({
  code: 'feed_unread',
  severity: 'failing',
  since: new Date(0),
  message: 'Not read',
  details: { feed, unread: 1 },
})
const seen: Alarm['finding'] = {
  code: 'feed_unread',
  severity: 'failing',
  since: null,
  message: '',
  guide: '',
}
const alarm = (identity: string, is_open = true): Alarm => ({
  owner_id: 1,
  id: 2,
  key_id: 3,
  identity,
  code: 'feed_unread',
  opening: seen,
  finding: seen,
  opened_at: new Date(0),
  opened_for: [],
  ended_for: [],
  is_open,
  resolved_at: is_open ? null : new Date(1),
  revision: 0,
})
const shown = (alarms: Alarm[], findings: Finding[]) =>
  compare(alarms, findings).map((one) => [
    one.next,
    'finding' in one ? one.finding.details.feed : one.alarm.identity,
  ])

test('of one code, at most 20 alarms are open, and the others open as those end', () => {
  const about = (room: number): Finding => ({
    ...finding('bookings'),
    code: 'calendar_failing',
    details: { room_ids: [room], count: 1 },
  })
  const rooms = Array.from({ length: 25 }, (_, index) => index + 1)
  const first = compare([], rooms.map(about))
  expect(first.map((one) => one.next)).toEqual(Array.from({ length: 20 }, () => 'open'))
  // The first and the last room are well again. A room that was first told of stays, whatever its id.
  const open = rooms
    .slice(0, 20)
    .map((room) => ({ ...alarm(`calendar_failing/${room}`), code: about(room).code }))
  const later = compare(open, [about(0), ...rooms.slice(1, 24).map(about)])
  const of = (next: string) => later.filter((one) => one.next === next)
  expect({
    kept: of('keep').length,
    ended: of('resolve').map((one) => 'alarm' in one && one.alarm.identity),
    opened: of('open').map((one) => 'finding' in one && one.finding.details.room_ids),
  }).toEqual({ kept: 19, ended: ['calendar_failing/1'], opened: [[0]] })
})

describe('a finding', () => {
  const rows: [title: string, alarms: Alarm[], findings: Finding[], next: unknown[]][] = [
    ['that is not there and was not opened leads to nothing', [], [], []],
    ['that appears is opened', [], [finding('bookings')], [['open', 'bookings']]],
    ['that lasts is kept', [alarm('feed_unread/bookings')], [finding('bookings')], [['keep', 'bookings']]],
    ['that is gone is resolved', [alarm('feed_unread/bookings')], [], [['resolve', 'feed_unread/bookings']]],
    [
      'that returns before its end was reported is a new alarm',
      [alarm('feed_unread/bookings', false)],
      [finding('bookings')],
      [['open', 'bookings']],
    ],
    [
      'whose end is still to be reported is not resolved again',
      [alarm('feed_unread/bookings', false)],
      [],
      [],
    ],
    [
      'of another subject is another alarm',
      [alarm('feed_unread/bookings')],
      [finding('messages')],
      [
        ['open', 'messages'],
        ['resolve', 'feed_unread/bookings'],
      ],
    ],
  ]
  test.each(rows)('%s', (_, alarms, findings, next) => {
    expect(shown(alarms, findings)).toEqual(next)
  })
})

describe('a webhook', () => {
  const webhook = (id: number, events: ('alarm.opened' | 'alarm.resolved')[], listening_id = 'a') => ({
    id,
    events,
    listening_id,
  })
  const told = (...ids: number[]) => ids.map((webhook_id) => ({ webhook_id, listening_id: 'a' }))
  const both = ['alarm.opened', 'alarm.resolved'] as ('alarm.opened' | 'alarm.resolved')[]
  const idsOf = (webhooks: { id: number }[]) => webhooks.map(({ id }) => id)

  test('is told of an opening once, and again if it has been off, moved or changed since', () => {
    const webhooks = [
      webhook(1, both),
      webhook(2, both, 'b'),
      webhook(3, both),
      webhook(4, ['alarm.resolved']),
    ]
    const openedFor = told(1, 2)
    expect(idsOf(untold(webhooks, {}, openedFor))).toEqual([2, 3])
    expect(idsOf(untold(webhooks, {}, []))).toEqual([1, 2, 3])
  })

  test('is told of an end if it was told of the opening, or wants ends alone', () => {
    const webhooks = [
      webhook(1, both),
      webhook(2, ['alarm.resolved']),
      webhook(3, ['alarm.opened']),
      webhook(4, both),
    ]
    expect(idsOf(toldOfEnd(webhooks, {}, told(1)))).toEqual([1, 2])
    const movedSince = [webhook(1, both, 'b')]
    expect(toldOfEnd(movedSince, {}, told(1))).toEqual([])
  })

  test('is told nothing about itself', () => {
    const about = { webhook_id: 1 }
    const webhooks = [webhook(1, both), webhook(2, both)]
    expect({
      opening: idsOf(untold(webhooks, about, [])),
      end: idsOf(toldOfEnd(webhooks, about, told(1, 2))),
    }).toEqual({ opening: [2], end: [2] })
  })
})
