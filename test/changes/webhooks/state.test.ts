import { expect, test } from 'vitest'
import { isOverfull, roomFor } from '../../../src/changes/webhooks/send/attempts-to-begin.ts'
import {
  afterEnd,
  atRest,
  attemptsOf,
  decide,
  failingUntil,
  hasNotedHosts,
  isOver,
  type Look,
  noAttempts,
  offAfterFailure,
  type SenderState,
  stateAfterLook,
  stateOf,
  type WebhookAttempts,
  type WebhookFacts,
  type WebhookState,
  withAllNoted,
  withAttempts,
  withBegun,
  withDueNoted,
  withEnded,
  withListing,
  withLookEnded,
  withLooked,
  withLooksBegun,
  withNoted,
  withoutOldAttempts,
  withPlanned,
  withRoundBegun,
  withRoundFailed,
} from '../../../src/changes/webhooks/send/state.ts'

const now = new Date('2026-11-26T12:00:00Z')
const earlier = new Date('2026-11-26T11:59:59Z')
const later = new Date('2026-11-26T12:00:01Z')

const idle: WebhookState = { is: 'idle', isAttempting: false }
const busy: WebhookState = { is: 'idle', isAttempting: true }
const due: WebhookState = { is: 'due' }

test.for<[string, WebhookState, ReturnType<typeof decide>]>([
  ['an idle webhook waits', idle, { next: 'wait', atEnd: 'nothing' }],
  [
    'an idle webhook is looked at again when an attempt ends that may hold back hints',
    busy,
    { next: 'wait', atEnd: 'look' },
  ],
  [
    'a failing webhook waits until its five days are over',
    { is: 'failing', until: later },
    { next: 'wait', atEnd: 'nothing' },
  ],
  [
    'a failing webhook is turned off once its five days are over',
    { is: 'failing', until: now },
    { next: 'turn off', reason: 'failing', atEnd: 'nothing' },
  ],
  ['a webhook that is due is looked at', due, { next: 'look', inMilliseconds: 0, atEnd: 'look' }],
  [
    'a webhook with ten attempts in progress waits for the end of one',
    { is: 'full', of: 'attempts' },
    { next: 'wait', atEnd: 'look' },
  ],
  [
    'a webhook with twenty attempts in a second pauses for a moment',
    { is: 'full', of: 'rate' },
    { next: 'look', inMilliseconds: 250, atEnd: 'look' },
  ],
  [
    'a webhook without turns at its origin pauses for a moment',
    { is: 'full', of: 'turns' },
    { next: 'look', inMilliseconds: 250, atEnd: 'look' },
  ],
  [
    'a webhook with too many waiting hints pauses for two seconds',
    { is: 'full', of: 'hints' },
    { next: 'look', inMilliseconds: 2000, atEnd: 'look' },
  ],
  [
    "a webhook with another process's attempts pauses for two seconds",
    { is: 'full', of: 'others' },
    { next: 'look', inMilliseconds: 2000, atEnd: 'look' },
  ],
  [
    'a blocked webhook is looked at as soon as an attempt ends',
    { is: 'blocked', rest: idle },
    { next: 'wait', atEnd: 'look at once' },
  ],
  [
    'a blocked webhook with further hints is looked at in the next round too',
    { is: 'blocked', rest: due },
    { next: 'look', inMilliseconds: 0, atEnd: 'look at once' },
  ],
  [
    'a blocked webhook that is full pauses as a full one does',
    { is: 'blocked', rest: { is: 'full', of: 'others' } },
    { next: 'look', inMilliseconds: 2000, atEnd: 'look at once' },
  ],
  [
    'a webhook whose key has ended is turned off',
    { is: 'off', reason: 'key_ended' },
    { next: 'turn off', reason: 'key_ended', atEnd: 'nothing' },
  ],
])('%s', ([, state, decision]) => {
  expect(decide(state, now)).toEqual(decision)
})

const quiet: WebhookFacts = {
  waiting: 0,
  nextAttemptAt: null,
  isBehind: false,
  failingSince: null,
  isKeyUsable: true,
  isAttempting: false,
}
const longAgo = new Date('2026-11-01T00:00:00Z')

test.for<[string, Partial<WebhookFacts>, WebhookState]>([
  ['without hints or changes is idle', {}, idle],
  ['whose hint is due at this moment is due', { waiting: 1, nextAttemptAt: now }, due],
  ['whose hint is overdue is due', { waiting: 1, nextAttemptAt: earlier }, due],
  ['whose hint is due later is idle', { waiting: 1, nextAttemptAt: later }, idle],
  ['with changes in a feed is due', { isBehind: true }, due],
  ['whose hint is in flight is idle', { waiting: 1, nextAttemptAt: later, isAttempting: true }, busy],
  [
    'that has failed and has no hint left is failing',
    { failingSince: longAgo },
    { is: 'failing', until: failingUntil(longAgo) },
  ],
  [
    'that has failed and has a hint left is idle until the next attempt',
    { failingSince: longAgo, waiting: 1, nextAttemptAt: later },
    idle,
  ],
  ['that has failed and is being attempted is idle', { failingSince: longAgo, isAttempting: true }, busy],
  ['that has failed and has changes in a feed is due', { failingSince: longAgo, isBehind: true }, due],
])('a webhook %s', ([, facts, state]) => {
  expect(stateOf({ ...quiet, ...facts }, now)).toEqual(state)
})

test('a webhook may fail for five days', () => {
  expect(failingUntil(longAgo)).toEqual(new Date('2026-11-06T00:00:00Z'))
})

test.for([
  { status: 500, failingSince: null, reason: null },
  { status: null, failingSince: null, reason: null },
  { status: 410, failingSince: null, reason: 'gone' },
  { status: 410, failingSince: longAgo, reason: 'gone' },
  { status: 500, failingSince: earlier, reason: null },
  { status: 500, failingSince: longAgo, reason: 'failing' },
  { status: null, failingSince: longAgo, reason: 'failing' },
])('after the response $status, a webhook that fails since $failingSince is off: $reason', (row) => {
  expect(offAfterFailure(row, now)).toBe(row.reason)
})

const emptyLook: Look = {
  inFlight: 0,
  hasOthers: false,
  inLastSecond: 0,
  begins: 0,
  lacksTurns: false,
  isOverfull: false,
  hasMore: false,
  hasBlockedHint: false,
}

test.for<[string, Partial<Look>, WebhookState]>([
  ['all hints have begun', { begins: 3 }, idle],
  ['all hints have begun beside earlier attempts', { begins: 3, inFlight: 2 }, busy],
  ['more may begin', { begins: 3, hasMore: true }, due],
  ['more wait, and nine attempts are in progress', { inFlight: 4, begins: 5, hasMore: true }, due],
  [
    'more wait, and ten attempts are in progress',
    { inFlight: 4, begins: 6, hasMore: true },
    { is: 'full', of: 'attempts' },
  ],
  ['nothing waits, and ten attempts are in progress', { inFlight: 4, begins: 6 }, busy],
  [
    'more wait, and twenty attempts began within a second',
    { inLastSecond: 18, begins: 2, hasMore: true },
    { is: 'full', of: 'rate' },
  ],
  [
    'more wait, and both limits are reached',
    { inFlight: 4, inLastSecond: 14, begins: 6, hasMore: true },
    { is: 'full', of: 'rate' },
  ],
  [
    "another process's attempts are in progress",
    { inFlight: 1, hasOthers: true },
    { is: 'full', of: 'others' },
  ],
  ['too many hints wait', { isOverfull: true, hasOthers: true, hasMore: true }, { is: 'full', of: 'hints' }],
  [
    'the origin has too few turns',
    { begins: 3, lacksTurns: true, isOverfull: true },
    { is: 'full', of: 'turns' },
  ],
  [
    'a hint waits for an attempt for its booking',
    { inFlight: 1, hasBlockedHint: true },
    { is: 'blocked', rest: busy },
  ],
  [
    'a hint waits for an attempt for its booking, and more may begin',
    { inFlight: 1, hasBlockedHint: true, hasMore: true },
    { is: 'blocked', rest: due },
  ],
  [
    'a hint waits for an attempt for its booking, and no more may begin',
    { inFlight: 9, begins: 1, hasBlockedHint: true, hasMore: true },
    { is: 'blocked', rest: { is: 'full', of: 'attempts' } },
  ],
])('the state after a look, if %s', ([, look, state]) => {
  expect(stateAfterLook({ ...emptyLook, ...look })).toEqual(state)
})

test.for([
  { inFlight: 0, inLastSecond: 0, room: 10 },
  { inFlight: 9, inLastSecond: 0, room: 1 },
  { inFlight: 10, inLastSecond: 0, room: 0 },
  { inFlight: 12, inLastSecond: 0, room: 0 },
  { inFlight: 0, inLastSecond: 17, room: 3 },
  { inFlight: 8, inLastSecond: 17, room: 2 },
  { inFlight: 0, inLastSecond: 20, room: 0 },
])('with $inFlight attempts in progress and $inLastSecond within a second, $room more may begin', (row) => {
  expect(roomFor(row)).toBe(row.room)
})

test.for([
  { waiting: 9999, isBehind: true, isFull: false },
  { waiting: 10_000, isBehind: true, isFull: true },
  { waiting: 10_000, isBehind: false, isFull: false },
])('while $waiting hints wait, changes wait in the feeds: $isFull', ({ isFull, ...facts }) => {
  expect(isOverfull(facts)).toBe(isFull)
})

test('attempts are values: a begin, an end and a look each make new ones', () => {
  const begun = withBegun(noAttempts, [{ id: 'one', booking: 1 }], 100)
  const both = withBegun(begun, [{ id: 'two', booking: null }], 1100)
  const looked = withLooked(both, { is: 'blocked', rest: due })
  const failed = withEnded(looked, { id: 'one', isDelivered: false })
  const delivered = withEnded(failed, { id: 'two', isDelivered: true })
  const seen = ({ inFlight, startedAt, hasFailed, state }: WebhookAttempts) => ({
    inFlight: [...inFlight],
    startedAt,
    hasFailed,
    state: state.is,
  })
  expect({
    before: seen(noAttempts),
    begun: seen(begun),
    both: seen(both),
    looked: seen(looked),
    failed: seen(failed),
    delivered: seen(delivered),
  }).toEqual({
    before: { inFlight: [], startedAt: [], hasFailed: false, state: 'idle' },
    begun: { inFlight: [['one', 1]], startedAt: [100], hasFailed: false, state: 'idle' },
    // The first attempt began a second ago, so it no longer counts.
    both: {
      inFlight: [
        ['one', 1],
        ['two', null],
      ],
      startedAt: [1100],
      hasFailed: false,
      state: 'idle',
    },
    looked: {
      inFlight: [
        ['one', 1],
        ['two', null],
      ],
      startedAt: [1100],
      hasFailed: false,
      state: 'blocked',
    },
    failed: { inFlight: [['two', null]], startedAt: [1100], hasFailed: true, state: 'blocked' },
    delivered: { inFlight: [], startedAt: [1100], hasFailed: false, state: 'blocked' },
  })
  expect({
    early: isOver(delivered, 2099),
    late: isOver(delivered, 2100),
    busy: isOver(failed, 9999),
  }).toEqual({
    early: false,
    late: true,
    busy: false,
  })
})

test.for<[string, WebhookState, boolean, ReturnType<typeof afterEnd>]>([
  ['nothing follows a success', idle, false, 'nothing'],
  ['a failure leads to a look, so that the next attempt is planned', idle, true, 'look'],
  ['the end leads to a look if it may have held back hints', busy, false, 'look'],
  ['the end leads to a look if the webhook was full', { is: 'full', of: 'attempts' }, false, 'look'],
  [
    'the end leads to a look at once if a hint waited for it',
    { is: 'blocked', rest: idle },
    false,
    'look at once',
  ],
  [
    'a failure leads to a look at once if a hint waited for it',
    { is: 'blocked', rest: due },
    true,
    'look at once',
  ],
])('after an attempt, %s', ([, state, hasFailed, next]) => {
  expect(afterEnd({ ...noAttempts, state, hasFailed })).toBe(next)
})

/** Returns the hosts in each state of the diagram. */
function hostsOf({ areAllNoted, noted, planned, read, lookedAt }: SenderState) {
  return {
    areAllNoted,
    noted: [...noted],
    planned: [...planned.keys()],
    read: [...read],
    lookedAt: [...lookedAt],
  }
}

const noHosts = hostsOf(atRest)
const reading: SenderState = { ...atRest, read: new Set([1, 2]) }
const looking: SenderState = { ...atRest, lookedAt: new Set([1]) }
const planning: SenderState = { ...atRest, planned: new Map([[1, later]]) }

test.for<[string, SenderState, Partial<typeof noHosts>]>([
  ['a host that moves is noted', withNoted(atRest, [1]), { noted: [1] }],
  ['a host that is noted twice is noted once', withNoted(withNoted(atRest, [1, 2]), [1]), { noted: [1, 2] }],
  ['all hosts are noted without being listed', withAllNoted(atRest), { areAllNoted: true }],
  ['once they are listed, they are not listed again', withListing(withAllNoted(atRest)), {}],
  ['a round reads what is noted', withRoundBegun(withNoted(atRest, [2, 1])), { read: [2, 1] }],
  [
    'a round leaves a host that is looked at for a later one',
    withRoundBegun(withNoted(looking, [1, 2])),
    { noted: [1], read: [2], lookedAt: [1] },
  ],
  ['a host that moves while it is read is noted', withNoted(reading, [1]), { noted: [1], read: [1, 2] }],
  [
    'a host with work is looked at, and one without is at rest',
    withLooksBegun(reading, [2]),
    { lookedAt: [2] },
  ],
  [
    'a host that moves while it is looked at is noted',
    withNoted(looking, [1]),
    { noted: [1], lookedAt: [1] },
  ],
  ['a host whose look has ended is at rest', withLookEnded(looking, 1), {}],
  [
    'a host that moved during the look stays noted at its end',
    withLookEnded(withNoted(looking, [1]), 1),
    { noted: [1] },
  ],
  ['after a round that failed, all hosts are noted', withRoundFailed(reading), { areAllNoted: true }],
  ['a planned look that is not due waits', withDueNoted(planning, () => now), { planned: [1] }],
  ['a planned look that is due is noted', withDueNoted(planning, () => later), { noted: [1] }],
  [
    "each host's own clock decides which look is due",
    withDueNoted(
      withPlanned(atRest, [
        { host: 1, at: now },
        { host: 2, at: now },
      ]),
      (host) => (host === 2 ? later : earlier),
    ),
    { noted: [2], planned: [1] },
  ],
])('%s', ([, state, hosts]) => {
  expect(hostsOf(state)).toEqual({ ...noHosts, ...hosts })
})

test('of several planned looks at a host, the earliest counts', () => {
  const looks = [later, earlier, now].map((at) => ({ host: 1, at }))
  expect(withPlanned(atRest, looks).planned.get(1)).toEqual(earlier)
})

test.for([
  ['at rest, no round begins', atRest, false],
  ['for a noted host, a round begins', withNoted(atRest, [1]), true],
  ['to list all hosts, a round begins', withAllNoted(atRest), true],
  ['for a planned look alone, no round begins', planning, false],
] as const)('%s', ([, state, begins]) => {
  expect(hasNotedHosts(state)).toBe(begins)
})

const hosts = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Returns a state in which this many webhooks, each of a host of its own, have an attempt in progress. */
function sendingTo(count: number): SenderState {
  return hosts(count).reduce(
    (state, owner_id) =>
      withAttempts(state, { owner_id, id: owner_id }, (attempts) =>
        withBegun(attempts, [{ id: 'one', booking: 1 }], 0),
      ),
    atRest,
  )
}

test.for([
  { found: 100, sending: 0, looks: 100 },
  { found: 101, sending: 0, looks: 100 },
  { found: 100, sending: 500, looks: 100 },
  // Five webhooks of each host may begin, and a thousand may send.
  { found: 100, sending: 900, looks: 20 },
  { found: 100, sending: 996, looks: 0 },
  { found: 100, sending: 1004, looks: 0 },
])(
  'of $found hosts with work, $looks are looked at while $sending webhooks send, and the others are noted',
  (row) => {
    const state = withLooksBegun(sendingTo(row.sending), hosts(row.found))
    expect({ looks: [...state.lookedAt], noted: [...state.noted] }).toEqual({
      looks: hosts(row.found).slice(0, row.looks),
      noted: hosts(row.found).slice(row.looks),
    })
  },
)

test('a round reads at most a thousand hosts, and those without room do not hold up the others', () => {
  const first = withRoundBegun(withNoted(atRest, hosts(1500)))
  const second = withRoundBegun(withLooksBegun(first, [...first.read]))
  expect({ first: first.read.size, left: first.noted.size }).toEqual({ first: 1000, left: 500 })
  expect({ size: second.read.size, from: [...second.read][0] }).toEqual({ size: 1000, from: 1001 })
})

test('attempts are forgotten a second after their end, unless their host is being read or looked at', () => {
  const webhook = { owner_id: 1, id: 7 }
  const begun = withAttempts(atRest, webhook, (before) => withBegun(before, [{ id: 'one', booking: 1 }], 100))
  const failed = withAttempts(begun, webhook, (before) =>
    withEnded(before, { id: 'one', isDelivered: false }),
  )
  const isKnown = (state: SenderState, at: number) =>
    attemptsOf(withoutOldAttempts(state, at), webhook) !== noAttempts
  expect({
    inFlight: isKnown(begun, 9999),
    early: isKnown(failed, 1099),
    late: isKnown(failed, 1100),
    whileRead: isKnown({ ...failed, read: new Set([1]) }, 9999),
    whileLookedAt: isKnown({ ...failed, lookedAt: new Set([1]) }, 9999),
    whileAnotherIs: isKnown({ ...failed, lookedAt: new Set([2]) }, 9999),
  }).toEqual({
    inFlight: true,
    early: true,
    late: false,
    whileRead: true,
    whileLookedAt: true,
    whileAnotherIs: false,
  })
})

test('no event changes a state that is held elsewhere', () => {
  const before = withNoted(sendingTo(1), [1])
  const copy = structuredClone(before)
  withAllNoted(before)
  withNoted(before, [2])
  withRoundBegun(before)
  withLooksBegun(before, [3])
  withPlanned(before, [{ host: 1, at: now }])
  withAttempts(before, { owner_id: 1, id: 1 }, (attempts) =>
    withEnded(attempts, { id: 'one', isDelivered: true }),
  )
  withoutOldAttempts(before, 1e9)
  expect(before).toEqual(copy)
})
