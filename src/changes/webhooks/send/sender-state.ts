/**
 * What the sender knows, as one immutable value: which hosts it looks at, and its attempts to each webhook. Everything
 * here is pure. `state.ts` says what a webhook needs; this file says which hosts are looked at, when, and what an
 * attempt's end changes.
 *
 * A look at a host is one errand, from the note that it may have work to its begun attempts:
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
 */

import { type WebhookId, webhooksPerHost } from '../store.ts'
import { isOver, noAttempts, type WebhookAttempts } from './in-flight.ts'

/** Maximum number of hosts that one round reads. */
const hostsPerRound = 1000
/** Maximum number of hosts that are looked at concurrently. */
const maxHosts = 100
/** Maximum number of webhooks with attempts in progress; other webhooks wait for those attempts to end. */
const maxWebhooks = 1000

export interface SenderState {
  /** True while rounds follow each other. */
  readonly isInRounds: boolean
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
  isInRounds: false,
  areAllNoted: false,
  noted: new Set(),
  planned: new Map(),
  read: new Set(),
  lookedAt: new Set(),
  attempts: new Map(),
}

/** Returns true if a round would find a host to read, unless all noted hosts are being looked at. */
export function hasNotedHosts({ areAllNoted, noted }: SenderState): boolean {
  return areAllNoted || noted.size > 0
}

/** Notes hosts, which will be looked at in the next round. */
export function withNoted(state: SenderState, hosts: Iterable<number>): SenderState {
  return { ...state, noted: union(state.noted, hosts) }
}

/** Notes every host; which hosts those are is read when the next round begins. */
export function withAllNoted(state: SenderState): SenderState {
  return { ...state, areAllNoted: true }
}

/** Begins the listing of all hosts. A host that gets its first webhook meanwhile is noted on its own. */
export function withListing(state: SenderState): SenderState {
  return { ...state, areAllNoted: false }
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

/** A time at which a host is to be looked at, on the host's clock. */
export interface PlannedLook {
  host: number
  at: Date
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

/** Ends a round that failed. What it has read of its hosts is lost, so every host is noted. */
export function withRoundFailed(state: SenderState): SenderState {
  return { ...withAllNoted(state), read: new Set() }
}

/** Ends a look at a host. */
export function withLookEnded(state: SenderState, host: number): SenderState {
  return { ...state, lookedAt: without(state.lookedAt, [host]) }
}

/** Notes the hosts whose planned look is due on their clocks. */
export function withDueNoted(state: SenderState, clock: (host: number) => Date): SenderState {
  const due = [...state.planned].filter(([host, at]) => at <= clock(host)).map(([host]) => host)
  if (due.length === 0) return state
  const planned = new Map(state.planned)
  for (const host of due) planned.delete(host)
  return withNoted({ ...state, planned }, due)
}

/** Returns what is known of a webhook. */
export function attemptsOf({ attempts }: SenderState, { owner_id, id }: WebhookId): WebhookAttempts {
  return attempts.get(owner_id)?.get(id) ?? noAttempts
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
