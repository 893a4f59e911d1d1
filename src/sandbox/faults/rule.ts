import { type HintFault, hintFaults } from '../../changes/webhooks/hint.ts'

/** Faults that a sandbox may inject into requests (decisions §22). */
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
export type FaultName = (typeof requestFaults)[number] | HintFault['fault']

/** A fault with its parameters. */
export interface Fault {
  fault: FaultName
  retry_after_seconds: number
  delay_milliseconds: number
}

/**
 * A rule that injects a fault into a number of requests or hints, or into all matching requests for a period. A hint
 * fault affects only the hint's first attempt.
 */
export interface FaultRule extends Fault {
  /** Operation id of the only route that the rule matches; null for every route. */
  operation: string | null
  /** Method and path of the only route that the rule matches; null for every route. */
  route: string | null
  /** For hint faults, the only event that the rule matches; null for every event. */
  event: string | null
  /** Number of matching requests or hints that pass before the first fault. */
  after: number
  /** Number of matching requests or hints into which the fault is then injected. */
  times: number
  left: { after: number; times: number }
  /**
   * Duration of a timed rule in milliseconds, starting at the first matching request; null for a counted rule. Unlike a
   * counted rule, a timed rule is not used up by a client's automatic retries.
   */
  lasts_milliseconds: number | null
  /** End of a timed rule on the database's clock; null before the rule starts, and always for a counted rule. */
  until: Date | null
}

/** Creates a rule that applies to a number of requests or hints. */
export function countedRule(rule: Omit<FaultRule, 'left' | 'lasts_milliseconds' | 'until'>): FaultRule {
  return { ...rule, left: { after: rule.after, times: rule.times }, lasts_milliseconds: null, until: null }
}

/**
 * Creates a timed rule for one route. The rule ends at `until` or, if that is null, `milliseconds` after the first
 * matching request.
 */
export function timedRule(
  { fault, route, milliseconds }: { fault: FaultName; route: string; milliseconds: number },
  until: Date | null,
): FaultRule {
  const rule = countedRule({
    fault,
    operation: null,
    route,
    event: null,
    after: 0,
    times: 1,
    retry_after_seconds: 1,
    delay_milliseconds: 0,
  })
  return { ...rule, lasts_milliseconds: milliseconds, until }
}

/** Returns true for a hint fault and false for a request fault. */
export function isHintFault(fault: FaultName): fault is HintFault['fault'] {
  return (hintFaults as readonly string[]).includes(fault)
}
