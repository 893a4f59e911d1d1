/**
 * What is known of a webhook, and what happens next. Everything here is pure: the time is passed in, and the
 * sender acts on the decisions. An alarm is a hint here, since it is sent as one.
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
 *
 * A round finds a webhook idle, failing or due (`stateOf`). The look for the hints of a webhook that is due leaves it
 * idle, due, full or blocked (`stateAfterLook` in `choose.ts`). `decide` says what happens next in each state.
 */

/** What is known of a webhook. */
export type WebhookState = Idle | Failing | Due | Full | Blocked | Off

/** No hint can be attempted now. Stored hints may be waiting for the time of their next attempt. */
export interface Idle {
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
export interface Due {
  is: 'due'
}

/** Further hints may be attempted once there is room. */
export interface Full {
  is: 'full'
  /**
   * What is used up: the attempts that may be in progress, the attempts that may begin within a second, the turns at
   * the origin, or the hints that may wait. `others` means that another process's attempts, whose ends this process
   * does not see, are in progress.
   */
  of: 'attempts' | 'rate' | 'turns' | 'hints' | 'others'
}

/** A hint waits until no attempt for its booking is in progress. In all other respects, the webhook is in `rest`. */
export interface Blocked {
  is: 'blocked'
  rest: Idle | Due | Full
}

/** The webhook must be turned off. */
interface Off {
  is: 'off'
  reason: 'key_ended'
}

/** What happens next to a webhook. */
export type Decision =
  | { next: 'turn off'; reason: Off['reason'] | 'failing'; atEnd: AtEnd }
  /** Its hints are looked for, and attempts begin. */
  | { next: 'look'; inMilliseconds: number; atEnd: AtEnd }
  | { next: 'wait'; atEnd: AtEnd }

/**
 * What follows the end of an attempt: a look in the next round, a look in a round that begins at once, or nothing.
 * Messages never merge, so without `look at once`, a burst of messages about one booking would be sent at five a second.
 */
export type AtEnd = 'look' | 'look at once' | 'nothing'

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
export function atEndOf(state: WebhookState): AtEnd {
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

/** What a round has read of a webhook. */
export interface WebhookFacts {
  /** Number of stored hints with status `waiting`, including hints that are being attempted. */
  waiting: number
  /** Time of the earliest next attempt; null if no hint is waiting. */
  nextAttemptAt: Date | null
  /** True if a feed may contain rows without hints. */
  isBehind: boolean
  /** Time of the first failure since the last success; null if there is none. */
  failingSince: Date | null
  /** True if attempts of this process are in progress. */
  isAttempting: boolean
}

/** Returns the state of a webhook whose key is usable. */
export function stateOf(facts: WebhookFacts, now: Date): Idle | Failing | Due {
  const { waiting, isBehind, failingSince, isAttempting } = facts
  if (isBehind || hasDueHint(facts, now)) return { is: 'due' }
  if (failingSince && waiting === 0 && !isAttempting)
    return { is: 'failing', until: failingUntil(failingSince) }
  return { is: 'idle', isAttempting }
}

/** Returns true if a stored hint is due. */
export function hasDueHint({ nextAttemptAt }: Pick<WebhookFacts, 'nextAttemptAt'>, now: Date): boolean {
  return nextAttemptAt !== null && nextAttemptAt <= now
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
