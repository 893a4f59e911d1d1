import { expect, test } from 'vitest'
import {
  atRest,
  type Look,
  type Moment,
  next,
  type SeenWebhook,
  type SenderEffect,
  type SenderEvent,
  type SenderState,
  type StoredFacts,
  withAttempts,
  withBegun,
  withLooked,
} from '../../../src/changes/webhooks/send/state.ts'
import { newWebhook } from '../../../src/changes/webhooks/store.ts'

const now = new Date('2026-11-26T12:00:00Z')
const later = new Date('2026-11-26T12:00:01Z')
const moment: Moment = { at: 5000, clock: () => now, mayWork: true }

const webhook = newWebhook({
  owner_id: 1,
  id: 7,
  url: 'https://receiver.example/hooks',
  events: ['booking.changed'],
  created_by: 3,
  created_at: now,
  secrets: [],
  bookings_seen: now,
  messages_seen: now,
})

function seen(facts: Partial<StoredFacts>): SeenWebhook {
  const quiet: StoredFacts = {
    waiting: 0,
    nextAttemptAt: null,
    isBehind: false,
    failingSince: null,
    isKeyUsable: true,
  }
  return { webhook, facts: { ...quiet, ...facts }, clock: undefined }
}

const behind = seen({ isBehind: true })
const idleLook: Look = {
  inFlight: 0,
  hasOthers: false,
  inLastSecond: 0,
  begins: 1,
  lacksTurns: false,
  isOverfull: false,
  hasMore: false,
  hasBlockedHint: false,
}
const begun = [{ id: 'one', booking: 1 }]
const looked = (look: Partial<Look>): SenderEvent => ({
  is: 'looked',
  host: 1,
  webhooks: [{ webhook, look: { ...idleLook, ...look }, begun }],
})
const ended = (isDelivered: boolean): SenderEvent => ({
  is: 'attempt ended',
  webhook,
  id: 'one',
  isDelivered,
})

const noted: SenderState = { ...atRest, noted: new Set([1]) }
/** A round has begun at 5 s. */
const reading: SenderState = { ...atRest, isInRound: true, nextRoundAt: 5200, read: new Set([1]) }
/** Its look goes on; the next round may begin at 5.2 s. */
const looking: SenderState = { ...atRest, nextRoundAt: 5200, lookedAt: new Set([1]) }
const attempting = withAttempts({ ...atRest, nextRoundAt: 5200 }, webhook, (before) =>
  withBegun(before, begun, 4900),
)
const blocked = withAttempts(attempting, webhook, (before) =>
  withLooked(before, { is: 'blocked', rest: { is: 'idle', isAttempting: true } }),
)

const read: SenderEffect = { does: 'read', hosts: [1] }
const wake: SenderEffect = { does: 'wake', inMilliseconds: 200 }

test.for<[string, SenderState, SenderEvent, SenderEffect[]]>([
  ['a host that moves is read at once after a quiet time', atRest, { is: 'noted', host: 1 }, [read]],
  [
    'a host that moves soon after a round waits for the next one',
    { ...atRest, nextRoundAt: 5200 },
    { is: 'noted', host: 1 },
    [wake],
  ],
  [
    'the next round is waited for once',
    { ...noted, nextRoundAt: 5200, isWaking: true },
    { is: 'noted', host: 2 },
    [],
  ],
  [
    'a wait that ends too early is repeated',
    { ...noted, nextRoundAt: 5200, isWaking: true },
    { is: 'woken' },
    [wake],
  ],
  ['once it is over, the round begins', { ...noted, isWaking: true }, { is: 'woken' }, [read]],
  ['a host that moves during a round waits', reading, { is: 'noted', host: 1 }, []],
  ['a host that moves during its look waits', looking, { is: 'noted', host: 1 }, []],
  ['if any host may have moved, all are listed', atRest, { is: 'noted', host: 'any' }, [{ does: 'list' }]],
  [
    'the hosts that were listed are read',
    { ...atRest, isInRound: true, nextRoundAt: 5200 },
    { is: 'listed', hosts: [1] },
    [read],
  ],
  [
    'without a host with webhooks, the round is over',
    { ...atRest, isInRound: true, nextRoundAt: 5200 },
    { is: 'listed', hosts: [] },
    [],
  ],
  [
    'a webhook that is behind is looked at',
    reading,
    { is: 'read', webhooks: [behind] },
    [{ does: 'look', host: 1, off: [], due: [{ ...behind, hasDueHint: false }] }],
  ],
  ['an idle webhook is not', reading, { is: 'read', webhooks: [seen({})] }, []],
  [
    'a webhook whose key has ended is turned off, and nothing else, even if it is behind',
    reading,
    { is: 'read', webhooks: [seen({ isBehind: true, isKeyUsable: false })] },
    [{ does: 'look', host: 1, off: [{ webhook, reason: 'key_ended' }], due: [] }],
  ],
  [
    'a webhook that has failed for five days is turned off',
    reading,
    { is: 'read', webhooks: [seen({ failingSince: new Date(0) })] },
    [{ does: 'look', host: 1, off: [{ webhook, reason: 'failing' }], due: [] }],
  ],
  [
    'it stays on while its last attempt is in progress',
    { ...attempting, isInRound: true, read: new Set([1]) },
    { is: 'read', webhooks: [seen({ failingSince: new Date(0) })] },
    [],
  ],
  ['a round that failed is followed by one that lists all hosts', reading, { is: 'round failed' }, [wake]],
  ['a look that began all hints is followed by nothing', looking, looked({}), []],
  ['a look that left more is followed by another one', looking, looked({ hasMore: true }), [wake]],
  [
    'a look that lacked turns is followed by another one after a pause',
    looking,
    looked({ lacksTurns: true }),
    [{ does: 'note', host: 1, inMilliseconds: 250 }],
  ],
  ['a look that failed is followed by another one', looking, { is: 'look failed', host: 1 }, [wake]],
  ['a delivered hint is followed by nothing', attempting, ended(true), []],
  [
    'a failed one is followed by a look, so that its next attempt is planned',
    attempting,
    ended(false),
    [wake],
  ],
  ['if a hint waited for it, it is followed by a look at once', blocked, ended(true), [read]],
  ['an earlier tick begins nothing', { ...atRest, planned: new Map([[1, later]]) }, { is: 'tick' }, []],
])('%s', ([, state, event, effects]) => {
  expect(next(state, event, moment).effects).toEqual(effects)
})

test('without the lease, no round begins; the next tick under the lease begins it', () => {
  const late = next(atRest, { is: 'noted', host: 1 }, { ...moment, mayWork: false })
  const held = next(late.state, { is: 'tick' }, moment)
  expect({ late: late.effects, held: held.effects }).toEqual({ late: [], held: [read] })
})

test('an attempt that ends during a look, which may have counted it, leads to another look', () => {
  const { state } = next({ ...attempting, lookedAt: new Set([1]) }, ended(true), moment)
  const after = next(state, { is: 'looked', host: 1, webhooks: [] }, moment)
  expect(after.effects).toEqual([wake])
})

test('a webhook is planned to be looked at when its next attempt is due and when its five days are over', () => {
  const failingSince = new Date(now.getTime() - 86_400_000)
  const found = seen({ waiting: 1, nextAttemptAt: later, failingSince })
  expect(next(reading, { is: 'read', webhooks: [found] }, moment).state.planned).toEqual(
    new Map([[1, later]]),
  )
  const last = seen({ failingSince })
  const inFourDays = new Date(now.getTime() + 4 * 86_400_000)
  expect(next(reading, { is: 'read', webhooks: [last] }, moment).state.planned).toEqual(
    new Map([[1, inFourDays]]),
  )
})
