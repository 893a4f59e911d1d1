/** What a request to the sandbox may meet (decisions §22), as its key has asked for it. */
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
/** What a hint of the sandbox may meet. */
export const hintFaults = ['hint_lost', 'hint_twice', 'hint_late', 'hint_forged', 'hint_old'] as const
export type FaultName = (typeof requestFaults)[number] | (typeof hintFaults)[number]

/** A fault with its figures. */
export interface Fault {
  fault: FaultName
  retry_after_seconds: number
  delay_milliseconds: number
  /** A certification plays it, and tells nobody. */
  isSecret?: true
}

/** A rule: which requests, or first tries of hints, meet a fault, and how many of them. */
export interface FaultRule extends Fault {
  /** Only the route with this id; null for each. */
  operation: string | null
  /** That route with its method, as it is known when a request comes. */
  route: string | null
  /** Of a fault of hints: only those of this event; null for each. */
  event: string | null
  /** So many pass first. */
  after: number
  /** So many meet it then. */
  times: number
  left: { after: number; times: number }
}

/** True for a fault that hints meet, false for one of requests. */
export function isHintFault(fault: FaultName): boolean {
  return (hintFaults as readonly string[]).includes(fault)
}
