import type { InFlight } from '../attempts-store.ts'
import { type AtEnd, atEndOf, type WebhookState } from './state.ts'

/** This process's attempts to deliver hints to one webhook. A value: each change makes a new one. */
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

/** Returns the attempts after a look for further hints. */
export function withLooked(attempts: WebhookAttempts, state: WebhookState): WebhookAttempts {
  return { ...attempts, state }
}

/** An attempt to deliver a hint: the delivery's id, and the hint's booking or null. */
interface Attempt {
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

/** Returns true if the attempts have no effect on later ones. */
export function isOver({ inFlight, startedAt }: WebhookAttempts, at: number): boolean {
  return inFlight.size === 0 && withinSecond(startedAt, at).length === 0
}

/** Returns the times within the second before `at`. */
export function withinSecond(times: readonly number[], at: number): number[] {
  return times.filter((time) => time > at - 1000)
}
