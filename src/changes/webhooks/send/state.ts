/**
 * What the sender knows, as one immutable value, and what it does next. Everything here is pure: `next` takes an event
 * and the time, and returns the next value and the effects that `sender.ts` performs. Their results come back as
 * events. An alarm is a hint here, since it is sent as one.
 *
 * A **round** reads all hosts that are noted, at least 200 ms after the round before began. A **look** at a host is one
 * errand, from the note that the host may have work to its begun attempts:
 *
 *                noted              a round begins             there is work, and room
 *     at rest ──────────▶ noted ─────────────────────▶ read ──────────────────────────▶ looked at
 *      │ ▲ ▲              ▲ ▲ ▲                        │ │                              │    │
 *      │ │ │              │ │ └─── no room, or the ────┘ │                              │    │
 *      │ │ │              │ │      round has failed      │                              │    │
 *      │ │ └──────────────┼─┼──────── nothing to do ─────┘                              │    │
 *      │ └────────────────┼─┼────────────────────────────────────── the look has ended ─┘    │
 *      └──────────────────┘ └─────────────────────────────────── the look has failed, or ────┘
 *       its planned time                                         an attempt has ended
 *       has come
 *
 * A host that is noted while it is read or looked at is looked at again afterwards, never twice at the same time: two
 * looks could begin two attempts for one booking.
 *
 * Each of a host's **webhooks** has a state of its own. A round finds it idle, failing, due or off (`stateOf`), and the
 * look for the hints of a webhook that is due leaves it idle, due, full or blocked (`stateAfterLook`). `decide` says
 * what happens next in each state:
 *
 *             a change, or an attempt is due            no room for more
 *     idle ───────────────────────────────────▶ due ─────────────────────▶ full
 *     │  ▲                                      │ ▲ ▲                        │
 *     │  └──────── all hints have begun ────────┤ │ └── a pause is over, or ─┤
 *     │ the last hint was given up              │ │     an attempt has ended │
 *     ▼                                         │ │                          │
 *     failing ── a change, or an attempt is due ┼─┘                          │
 *     │                                         └─────────────────────▶ blocked
 *     │ five days have passed                    the rest waits for attempts
 *     ▼                                          in progress
 *     off ◀── from any state: the key has ended, or a response was 410 (`attempt.ts`)
 */

import type { HostClock } from '../../../host-clock/model.ts'
import type { InFlight } from '../attempts-store.ts'
import type { Webhook } from '../model.ts'
import { type WebhookId, webhooksPerHost } from '../store.ts'
import { maxPerSecondOfWebhook } from './turns.ts'

/** Minimum interval between rounds, so that changes in quick succession are announced together. */
const roundMilliseconds = 200
/** Maximum number of hosts that one round reads. */
const hostsPerRound = 1000
/** Maximum number of hosts that are looked at concurrently. */
const maxHosts = 100
/** Maximum number of webhooks with attempts in progress; other webhooks wait for those attempts to end. */
const maxWebhooks = 1000
/** Maximum number of concurrent attempts to one webhook (decisions §21). */
export const maxInFlight = 10

export interface SenderState {
  /** True from a round's begin until its hosts are read. */
  readonly isInRound: boolean
  /** Earliest time of the next round, from `performance.now()`. */
  readonly nextRoundAt: number
  /** True if a `wake` is on its way. */
  readonly isWaking: boolean
  /** True if every host with a webhook is to be looked at, because any host's feeds may have moved. */
  readonly areAllNoted: boolean
  /** Ids of the hosts to look at, in the order in which they were noted. */
  readonly noted: ReadonlySet<number>
  /** Time of each host's next planned look, on the host's clock, by host id. */
  readonly planned: ReadonlyMap<number, Date>
  /** Ids of the hosts that the current round reads. */
  readonly read: ReadonlySet<number>
  /** Ids of the hosts that are looked at. */
  readonly lookedAt: ReadonlySet<number>
  /** This process's attempts, by the ids of the host and the webhook. */
  readonly attempts: ReadonlyMap<number, ReadonlyMap<number, WebhookAttempts>>
}

/** The state of a sender that has done nothing yet. */
export const atRest: SenderState = {
  isInRound: false,
  nextRoundAt: 0,
  isWaking: false,
  areAllNoted: false,
  noted: new Set(),
  planned: new Map(),
  read: new Set(),
  lookedAt: new Set(),
  attempts: new Map(),
}

/** What has happened. Comments say what follows. */
export type SenderEvent =
  /** A host's feeds have moved, or any host's may have: it is noted. */
  | { is: 'noted'; host: number | 'any' }
  /** A `wake` has come: a round may begin. */
  | { is: 'woken' }
  /** Another second has passed under the lease: planned looks may be due. */
  | { is: 'tick' }
  /** The hosts with webhooks are known: the round reads them. */
  | { is: 'listed'; hosts: readonly number[] }
  /** A round has read its hosts' webhooks: looks begin at those hosts that have work. */
  | { is: 'read'; webhooks: readonly SeenWebhook[] }
  /** A round has failed: every host is noted. */
  | { is: 'round failed' }
  /** A look has ended and its attempts begin: the host is looked at again after the shortest pause of its webhooks. */
  | { is: 'looked'; host: number; webhooks: readonly LookedWebhook[] }
  /** A look has failed: its host is noted. */
  | { is: 'look failed'; host: number }
  /** An attempt has ended: its host is noted if the attempt failed, or if other hints may have waited for it. */
  | { is: 'attempt ended'; webhook: WebhookId; id: string; isDelivered: boolean }

/** What the sender must do, at once unless a time is given. */
export type SenderEffect =
  /** List the hosts with webhooks: `listed` or `round failed`. */
  | { does: 'list' }
  /** Read what is known of these hosts' webhooks: `read` or `round failed`. */
  | { does: 'read'; hosts: readonly number[] }
  /** Turn off webhooks and begin the hints' attempts of others: `looked` or `look failed`. */
  | { does: 'look'; host: number; off: readonly WebhookToTurnOff[]; due: readonly DueWebhook[] }
  /** `noted` after this time. */
  | { does: 'note'; host: number; inMilliseconds: number }
  /** `woken` after this time. */
  | { does: 'wake'; inMilliseconds: number }

/** The time of an event. */
export interface Moment {
  /** `performance.now()` */
  at: number
  /** Returns the time on a host's clock. */
  clock: (host: number) => Date
  /** True while this process may begin attempts. */
  mayWork: boolean
}

/** A webhook, as a round has read it. */
export interface SeenWebhook {
  webhook: Webhook
  facts: StoredFacts
  /** The host's clock, read before the feeds. */
  clock: HostClock | undefined
}

/** A webhook whose hints must be looked for. */
export interface DueWebhook extends SeenWebhook {
  /** False if no stored hint is due, but only changes in the feeds. */
  hasDueHint: boolean
}

/** A webhook that must be turned off. */
export interface WebhookToTurnOff {
  webhook: Webhook
  reason: 'key_ended' | 'failing'
}

/** A webhook whose hints were looked for. */
export interface LookedWebhook {
  webhook: WebhookId
  look: Look
  /** The attempts that begin now. */
  begun: readonly Attempt[]
}

/** What an event leads to. */
export interface Step {
  state: SenderState
  effects: SenderEffect[]
}

/** Returns what an event leads to. Each event may also begin a round, if one is due. */
export function next(state: SenderState, event: SenderEvent, moment: Moment): Step {
  const after = afterEvent(state, event, moment)
  const round = beginRound(after.state, moment)
  return { state: round.state, effects: [...after.effects, ...round.effects] }
}

function afterEvent(state: SenderState, event: SenderEvent, moment: Moment): Step {
  switch (event.is) {
    case 'noted':
      if (event.host === 'any') return { state: withAllNoted(state), effects: [] }
      return { state: withNoted(state, [event.host]), effects: [] }
    case 'woken':
      return { state: { ...state, isWaking: false }, effects: [] }
    case 'tick':
      return { state: withDueNoted(withoutOldAttempts(state, moment.at), moment.clock), effects: [] }
    case 'listed':
      return readNoted(withNoted(state, event.hosts))
    case 'read':
      return beginLooks({ ...state, isInRound: false }, event.webhooks, moment)
    case 'round failed':
      return { state: withRoundFailed({ ...state, isInRound: false }), effects: [] }
    case 'looked':
      return endLook(state, event, moment)
    case 'look failed':
      return { state: withLookEnded(withNoted(state, [event.host]), event.host), effects: [] }
    case 'attempt ended':
      return { state: afterAttempt(state, event, moment), effects: [] }
  }
}

/** Begins a round, or wakes the sender when it may begin. */
function beginRound(state: SenderState, { at, mayWork }: Moment): Step {
  if (state.isInRound || !mayWork || !hasNotedHosts(state)) return { state, effects: [] }
  if (at < state.nextRoundAt) {
    if (state.isWaking) return { state, effects: [] }
    const inMilliseconds = state.nextRoundAt - at
    return { state: { ...state, isWaking: true }, effects: [{ does: 'wake', inMilliseconds }] }
  }
  const begun = { ...state, isInRound: true, nextRoundAt: at + roundMilliseconds }
  return state.areAllNoted ? { state: withListing(begun), effects: [{ does: 'list' }] } : readNoted(begun)
}

/** Returns true if a round would find a host to read. */
export function hasNotedHosts({ areAllNoted, noted, lookedAt }: SenderState): boolean {
  if (areAllNoted) return true
  for (const host of noted) if (!lookedAt.has(host)) return true
  return false
}

/** Begins the listing of all hosts. A host that gets its first webhook meanwhile is noted on its own. */
export function withListing(state: SenderState): SenderState {
  return { ...state, areAllNoted: false }
}

/** Lets the round that has begun read the noted hosts. */
function readNoted(before: SenderState): Step {
  const state = withRoundBegun(before)
  if (state.read.size === 0) return { state: { ...state, isInRound: false }, effects: [] }
  return { state, effects: [{ does: 'read', hosts: [...state.read] }] }
}

/**
 * Begins a round: the noted hosts that are not looked at already are read. They are no longer noted, so a host that
 * moves during the reads is noted again.
 */
export function withRoundBegun(state: SenderState): SenderState {
  const free = [...state.noted].filter((host) => !state.lookedAt.has(host))
  const read = new Set(free.slice(0, hostsPerRound))
  return { ...state, noted: without(state.noted, read), read }
}

/** Plans later looks at the hosts that a round has read, and begins the looks at those that have work. */
function beginLooks(state: SenderState, webhooks: readonly SeenWebhook[], { clock }: Moment): Step {
  const off: WebhookToTurnOff[] = []
  const due: DueWebhook[] = []
  for (const seen of webhooks) {
    const { webhook, facts } = seen
    const isAttempting = attemptsOf(state, webhook).inFlight.size > 0
    const now = clock(webhook.owner_id)
    const decision = decide(stateOf({ ...facts, isAttempting }, now), now)
    if (decision.next === 'turn off') off.push({ webhook, reason: decision.reason })
    if (decision.next === 'look') due.push({ ...seen, hasDueHint: hasDueHint(facts, now) })
  }
  const hosts = new Set([...off, ...due].map(({ webhook }) => webhook.owner_id))
  const begun = withLooksBegun(withPlanned(state, webhooks.flatMap(looksToPlan)), [...hosts])
  const offOf = Map.groupBy(off, ({ webhook }) => webhook.owner_id)
  const dueOf = Map.groupBy(due, ({ webhook }) => webhook.owner_id)
  const effects: SenderEffect[] = []
  for (const host of hosts)
    if (begun.lookedAt.has(host))
      effects.push({ does: 'look', host, off: offOf.get(host) ?? [], due: dueOf.get(host) ?? [] })
  return { state: begun, effects }
}

/** A time at which a host is to be looked at, on the host's clock. */
export interface PlannedLook {
  host: number
  at: Date
}

/** Returns when a webhook's host must be looked at even if nothing moves. */
function looksToPlan({ webhook, facts }: SeenWebhook): PlannedLook[] {
  const host = webhook.owner_id
  const looks: PlannedLook[] = []
  if (facts.nextAttemptAt) looks.push({ host, at: facts.nextAttemptAt })
  if (facts.failingSince) looks.push({ host, at: failingUntil(facts.failingSince) })
  return looks
}

/** Plans looks, unless an earlier look at the same host is already planned. */
export function withPlanned(state: SenderState, looks: readonly PlannedLook[]): SenderState {
  const planned = new Map(state.planned)
  for (const { host, at } of looks) {
    const before = planned.get(host)
    if (!before || at < before) planned.set(host, at)
  }
  return { ...state, planned }
}

/** Ends a round that has found work at these hosts: as many as there is room for are looked at, the others next time. */
export function withLooksBegun(state: SenderState, hosts: readonly number[]): SenderState {
  const room = Math.max(0, roomForLooks(state) - state.lookedAt.size)
  return {
    ...state,
    read: new Set(),
    lookedAt: union(state.lookedAt, hosts.slice(0, room)),
    noted: union(state.noted, hosts.slice(room)),
  }
}

/** Returns how many hosts may be looked at. Attempts to all of a host's webhooks begin together. */
function roomForLooks({ attempts }: SenderState): number {
  let sending = 0
  for (const ofHost of attempts.values())
    for (const { inFlight } of ofHost.values()) if (inFlight.size > 0) sending += 1
  return Math.min(maxHosts, Math.floor((maxWebhooks - sending) / webhooksPerHost))
}

/** Ends a look whose attempts begin, and notes its host again, perhaps after a pause. */
function endLook(
  state: SenderState,
  { host, webhooks }: { host: number; webhooks: readonly LookedWebhook[] },
  { at, clock }: Moment,
): Step {
  let after = withLookEnded(state, host)
  const pauses: number[] = []
  for (const { webhook, look, begun } of webhooks) {
    const left = stateAfterLook(look)
    after = withAttempts(after, webhook, (before) => withBegun(withLooked(before, left), begun, at))
    const decision = decide(left, clock(host))
    if (decision.next === 'look') pauses.push(decision.inMilliseconds)
  }
  if (pauses.length === 0) return { state: after, effects: [] }
  const inMilliseconds = Math.min(...pauses)
  if (inMilliseconds === 0) return { state: withNoted(after, [host]), effects: [] }
  return { state: after, effects: [{ does: 'note', host, inMilliseconds }] }
}

/** Ends a look at a host. */
export function withLookEnded(state: SenderState, host: number): SenderState {
  return { ...state, lookedAt: without(state.lookedAt, [host]) }
}

/** Ends an attempt. Its host is noted if something follows, and also during a look, which may have counted the attempt. */
function afterAttempt(
  state: SenderState,
  { webhook, id, isDelivered }: { webhook: WebhookId; id: string; isDelivered: boolean },
  { at }: Moment,
): SenderState {
  const host = webhook.owner_id
  const ended = withAttempts(state, webhook, (attempts) => withEnded(attempts, { id, isDelivered }))
  const follows = afterEnd(attemptsOf(ended, webhook))
  if (follows === 'nothing' && !ended.lookedAt.has(host)) return ended
  const noted = withNoted(ended, [host])
  return follows === 'look at once' ? { ...noted, nextRoundAt: at } : noted
}

/** Ends a round that failed. What it has read of its hosts is lost, so every host is noted. */
export function withRoundFailed(state: SenderState): SenderState {
  return { ...withAllNoted(state), read: new Set() }
}

/** Notes every host; which hosts those are is read when the next round begins. */
export function withAllNoted(state: SenderState): SenderState {
  return { ...state, areAllNoted: true }
}

/** Notes hosts, which will be looked at in the next round. */
export function withNoted(state: SenderState, hosts: Iterable<number>): SenderState {
  return { ...state, noted: union(state.noted, hosts) }
}

/** Notes the hosts whose planned look is due on their clocks. */
export function withDueNoted(state: SenderState, clock: (host: number) => Date): SenderState {
  const due = [...state.planned].filter(([host, at]) => at <= clock(host)).map(([host]) => host)
  if (due.length === 0) return state
  const planned = new Map(state.planned)
  for (const host of due) planned.delete(host)
  return withNoted({ ...state, planned }, due)
}

function union(set: ReadonlySet<number>, more: Iterable<number>): ReadonlySet<number> {
  const all = new Set(set)
  for (const one of more) all.add(one)
  return all
}

function without(set: ReadonlySet<number>, gone: Iterable<number>): ReadonlySet<number> {
  const left = new Set(set)
  for (const one of gone) left.delete(one)
  return left
}

/** What is known of a webhook. */
export type WebhookState = Idle | Failing | Due | Full | Blocked | Off

/** No hint can be attempted now. Stored hints may be waiting for the time of their next attempt. */
interface Idle {
  is: 'idle'
  /** True if attempts were in progress. Hints for the same bookings were not looked for and may be waiting. */
  isAttempting: boolean
}

/** Attempts have failed since the last success, and no hint is left to attempt. */
interface Failing {
  is: 'failing'
  /** Time at which the webhook is turned off. */
  until: Date
}

/** Stored hints are due, or the feeds may contain rows without hints. */
interface Due {
  is: 'due'
}

/** Further hints may be attempted once there is room. */
interface Full {
  is: 'full'
  /**
   * What is used up: the attempts that may be in progress, the attempts that may begin within a second, the turns at
   * the origin, or the hints that may wait. `others` means that another process's attempts, whose ends this process
   * does not see, are in progress.
   */
  of: 'attempts' | 'rate' | 'turns' | 'hints' | 'others'
}

/** A hint waits until no attempt for its booking is in progress. In all other respects, the webhook is in `rest`. */
interface Blocked {
  is: 'blocked'
  rest: Idle | Due | Full
}

/** The webhook must be turned off. */
interface Off {
  is: 'off'
  reason: 'key_ended'
}

/** What a round reads of a webhook. */
export interface StoredFacts {
  /** Number of stored hints with status `waiting`, including hints that are being attempted. */
  waiting: number
  /** Time of the earliest next attempt; null if no hint is waiting. */
  nextAttemptAt: Date | null
  /** True if a feed may contain rows without hints. */
  isBehind: boolean
  /** Time of the first failure since the last success; null if there is none. */
  failingSince: Date | null
  /** False if the webhook's key has ended. */
  isKeyUsable: boolean
}

/** What a round knows of a webhook. */
export type WebhookFacts = StoredFacts & {
  /** True if attempts of this process are in progress. */
  isAttempting: boolean
}

/** Returns the state in which a round finds a webhook. */
export function stateOf(facts: WebhookFacts, now: Date): Idle | Failing | Due | Off {
  const { waiting, isBehind, failingSince, isKeyUsable, isAttempting } = facts
  if (!isKeyUsable) return { is: 'off', reason: 'key_ended' }
  if (isBehind || hasDueHint(facts, now)) return { is: 'due' }
  if (failingSince && waiting === 0 && !isAttempting)
    return { is: 'failing', until: failingUntil(failingSince) }
  return { is: 'idle', isAttempting }
}

/** Returns true if a stored hint is due. */
function hasDueHint({ nextAttemptAt }: Pick<StoredFacts, 'nextAttemptAt'>, now: Date): boolean {
  return nextAttemptAt !== null && nextAttemptAt <= now
}

/** What a look for a webhook's hints has found. */
export interface Look {
  /** Number of attempts that were in progress in any process. */
  inFlight: number
  /** True if some of them are another process's. */
  hasOthers: boolean
  /** Number of attempts that have begun within the last second. */
  inLastSecond: number
  /** Number of attempts that may begin now, as far as the webhook is concerned. */
  begins: number
  /** True if the origin had too few turns for these attempts. */
  lacksTurns: boolean
  /** True if changes must wait in the feeds, because too many hints are waiting. */
  isOverfull: boolean
  /** True if further hints may be attempted or created. */
  hasMore: boolean
  /** True if a hint waits for an attempt for its booking to end. */
  hasBlockedHint: boolean
}

/** Returns the state of a webhook once the attempts that a look has found have begun. */
export function stateAfterLook(look: Look): Idle | Due | Full | Blocked {
  const rest = restAfterLook(look)
  return look.hasBlockedHint ? { is: 'blocked', rest } : rest
}

function restAfterLook(look: Look): Idle | Due | Full {
  const { inFlight, inLastSecond, begins } = look
  if (look.lacksTurns) return { is: 'full', of: 'turns' }
  if (look.isOverfull) return { is: 'full', of: 'hints' }
  if (look.hasOthers) return { is: 'full', of: 'others' }
  if (!look.hasMore) return { is: 'idle', isAttempting: inFlight > 0 }
  if (inLastSecond + begins >= maxPerSecondOfWebhook) return { is: 'full', of: 'rate' }
  if (inFlight + begins >= maxInFlight) return { is: 'full', of: 'attempts' }
  return { is: 'due' }
}

/** What happens next to a webhook. */
type Decision =
  | { next: 'turn off'; reason: Off['reason'] | 'failing'; atEnd: AtEnd }
  /** Its hints are looked for, and attempts begin. */
  | { next: 'look'; inMilliseconds: number; atEnd: AtEnd }
  | { next: 'wait'; atEnd: AtEnd }

/**
 * What follows the end of an attempt: a look in the next round, a look in a round that begins at once, or nothing.
 * Messages never merge, so without `look at once`, a burst of messages about one booking would be sent at five a second.
 */
type AtEnd = 'look' | 'look at once' | 'nothing'

/** Pause while a rate is used up, long enough for several attempts to begin together afterwards. */
const ratePauseMilliseconds = 250
/** Pause while another process's attempts are in progress, or while too many hints are waiting. */
const longPauseMilliseconds = 2000

/** Pause after which hints are looked for again; null if an attempt of this process must end first. */
const pauseOf: Record<Full['of'], number | null> = {
  attempts: null,
  rate: ratePauseMilliseconds,
  turns: ratePauseMilliseconds,
  hints: longPauseMilliseconds,
  others: longPauseMilliseconds,
}

/** Says what happens next to a webhook in the given state. */
export function decide(state: WebhookState, now: Date): Decision {
  const atEnd = atEndOf(state)
  switch (state.is) {
    case 'idle':
      return { next: 'wait', atEnd }
    case 'failing':
      if (state.until > now) return { next: 'wait', atEnd }
      return { next: 'turn off', reason: 'failing', atEnd }
    case 'due':
      return { next: 'look', inMilliseconds: 0, atEnd }
    case 'full': {
      const pause = pauseOf[state.of]
      if (pause === null) return { next: 'wait', atEnd }
      return { next: 'look', inMilliseconds: pause, atEnd }
    }
    case 'blocked':
      return { ...decide(state.rest, now), atEnd }
    case 'off':
      return { next: 'turn off', reason: state.reason, atEnd }
  }
}

/** Says what follows the end of an attempt to a webhook in the given state. */
function atEndOf(state: WebhookState): AtEnd {
  switch (state.is) {
    case 'idle':
      return state.isAttempting ? 'look' : 'nothing'
    case 'due':
    case 'full':
      return 'look'
    case 'blocked':
      return 'look at once'
    case 'failing':
    case 'off':
      return 'nothing'
  }
}

/** Time after which a failing webhook is turned off. */
const failingMilliseconds = 5 * 86_400_000

/** Returns the time at which a webhook that has been failing since the given time is turned off. */
export function failingUntil(failingSince: Date): Date {
  return new Date(failingSince.getTime() + failingMilliseconds)
}

/** Returns why a webhook must be turned off after a failed attempt; null if it stays on (decisions §21). */
export function offAfterFailure(
  { status, failingSince }: { status: number | null; failingSince: Date | null },
  now: Date,
): 'gone' | 'failing' | null {
  if (status === 410) return 'gone'
  return failingSince && failingUntil(failingSince) <= now ? 'failing' : null
}

/** This process's attempts to deliver hints to one webhook. */
export interface WebhookAttempts {
  readonly inFlight: InFlight
  /** Start times of the attempts within the last second before the latest, from `performance.now()`, oldest first. */
  readonly startedAt: readonly number[]
  /** True if the most recently ended attempt failed. */
  readonly hasFailed: boolean
  /** The webhook's state after the latest look. */
  readonly state: WebhookState
}

/** What is known of a webhook to which this process has sent nothing yet. */
export const noAttempts: WebhookAttempts = {
  inFlight: new Map(),
  startedAt: [],
  hasFailed: false,
  state: { is: 'idle', isAttempting: false },
}

/** Returns what is known of a webhook. */
export function attemptsOf({ attempts }: SenderState, { owner_id, id }: WebhookId): WebhookAttempts {
  return attempts.get(owner_id)?.get(id) ?? noAttempts
}

/** The attempts to a webhook, as a look counts them. */
export interface CountedAttempts {
  inFlight: InFlight
  /** Number of attempts that have begun within the last second. */
  inLastSecond: number
}

/** @param at `performance.now()` */
export function attemptsAt(state: SenderState, webhook: WebhookId, at: number): CountedAttempts {
  const { inFlight, startedAt } = attemptsOf(state, webhook)
  return { inFlight, inLastSecond: withinSecond(startedAt, at).length }
}

/** Changes what is known of a webhook. */
export function withAttempts(
  state: SenderState,
  webhook: WebhookId,
  toNext: (attempts: WebhookAttempts) => WebhookAttempts,
): SenderState {
  const { owner_id, id } = webhook
  const ofHost = new Map(state.attempts.get(owner_id)).set(id, toNext(attemptsOf(state, webhook)))
  return { ...state, attempts: new Map(state.attempts).set(owner_id, ofHost) }
}

/** Returns the attempts after a look for further hints. */
export function withLooked(attempts: WebhookAttempts, state: WebhookState): WebhookAttempts {
  return { ...attempts, state }
}

/** An attempt to deliver a hint: the delivery's id, and the hint's booking or null. */
export interface Attempt {
  id: string
  booking: number | null
}

/** Returns the attempts after others have begun together. */
export function withBegun(attempts: WebhookAttempts, begun: readonly Attempt[], at: number): WebhookAttempts {
  const inFlight = new Map(attempts.inFlight)
  for (const { id, booking } of begun) inFlight.set(id, booking)
  const startedAt = [...withinSecond(attempts.startedAt, at), ...begun.map(() => at)]
  return { ...attempts, inFlight, startedAt }
}

/** Returns the attempts after one of them has ended. */
export function withEnded(
  attempts: WebhookAttempts,
  { id, isDelivered }: { id: string; isDelivered: boolean },
): WebhookAttempts {
  const inFlight = new Map(attempts.inFlight)
  inFlight.delete(id)
  return { ...attempts, inFlight, hasFailed: !isDelivered }
}

/** Says what follows the end of the latest attempt. The next attempt after a failure must be planned. */
export function afterEnd({ state, hasFailed }: WebhookAttempts): AtEnd {
  const atEnd = atEndOf(state)
  return atEnd === 'nothing' && hasFailed ? 'look' : atEnd
}

/**
 * Forgets the attempts that no longer affect later ones. A webhook that a round or a look has read may have failed
 * since, so what is known of its host is kept until both have ended.
 *
 * @param at `performance.now()`
 */
export function withoutOldAttempts(state: SenderState, at: number): SenderState {
  const attempts = new Map<number, ReadonlyMap<number, WebhookAttempts>>()
  for (const [host, ofHost] of state.attempts) {
    const isBusy = state.read.has(host) || state.lookedAt.has(host)
    const left = isBusy ? ofHost : new Map([...ofHost].filter(([, one]) => !isOver(one, at)))
    if (left.size > 0) attempts.set(host, left)
  }
  return { ...state, attempts }
}

/** Returns true if the attempts have no effect on later ones. */
export function isOver({ inFlight, startedAt }: WebhookAttempts, at: number): boolean {
  return inFlight.size === 0 && withinSecond(startedAt, at).length === 0
}

/** Returns the times within the second before `at`. */
function withinSecond(times: readonly number[], at: number): number[] {
  return times.filter((time) => time > at - 1000)
}
