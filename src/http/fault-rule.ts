/** Faults that a key may request for its requests to the sandbox (decisions §22). */
export const requestFaults = [
  'rate_limited',
  'internal_error',
  'bad_gateway',
  'unauthorized',
  'slow',
  'lost_request',
  'lost_response',
  'cut_response',
] as const
/** Faults that a key may request for the sandbox's hints. */
export const hintFaults = ['hint_lost', 'hint_twice', 'hint_late', 'hint_forged', 'hint_old'] as const
export type FaultName = (typeof requestFaults)[number] | (typeof hintFaults)[number]

/** A fault with its parameters. */
export interface Fault {
  fault: FaultName
  retry_after_seconds: number
  delay_milliseconds: number
  /** Present if a certification plays the fault secretly. */
  isSecret?: true
}

/** A rule that determines which requests, or first tries of hints, meet a fault, and how many of them. */
export interface FaultRule extends Fault {
  /** Operation id of the only route that the rule matches; null for every route. */
  operation: string | null
  /** Method and path of that route, against which requests are matched; null for every route. */
  route: string | null
  /** For hint faults, the only event that the rule matches; null for every event. */
  event: string | null
  /** Number of matching requests or hints that pass before the first fault. */
  after: number
  /** Number of matching requests or hints that then meet the fault. */
  times: number
  left: { after: number; times: number }
}

/** Returns true for a fault of hints and false for a fault of requests. */
export function isHintFault(fault: FaultName): boolean {
  return (hintFaults as readonly string[]).includes(fault)
}
