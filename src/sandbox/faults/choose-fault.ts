import type { HintFault } from '../../changes/webhooks/hint.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { countDown, findRules, type Rules, startTimedRule } from '../store.ts'
import { type Fault, type FaultRule, isHintFault } from './rule.ts'

/**
 * Counts a request to a route, such as `POST /sandbox/bookings`. Returns the fault to inject into the request, or null.
 *
 * @param found the sandbox's rules as read with the request's sandbox
 * @param now current time on the database's clock
 */
export function takeRequestFault(db: Db, found: Rules, route: string, now: Date): Promise<Fault | null> {
  const isOf = (rule: FaultRule) => !isHintFault(rule.fault) && (rule.route === null || rule.route === route)
  return takeFault(db, found, now, isOf)
}

/** Counts a hint's first attempt. Returns the fault to inject into the hint, or null. */
export async function takeHintFault(
  db: Db,
  sandboxId: number,
  event: string,
  now: Date,
): Promise<HintFault | null> {
  const isOf = (rule: FaultRule) => isHintFault(rule.fault) && (rule.event === null || rule.event === event)
  const found = await findRules(db, sandboxId)
  const taken = await takeFault(db, found, now, isOf)
  if (!taken || !isHintFault(taken.fault)) return null
  const { fault, delay_milliseconds } = taken
  return { fault, delay_milliseconds, isHidden: found?.observer_id != null }
}

/**
 * Counts a request or hint against the first matching rule that is not used up. The counts are exact even if many
 * processes count concurrently.
 *
 * @param found the rules as last read; null if the sandbox is not open
 * @returns the fault to inject, or null
 */
async function takeFault(
  db: Db,
  found: Rules | null,
  now: Date,
  matches: (rule: FaultRule) => boolean,
): Promise<Fault | null> {
  let seen = found
  while (seen) {
    const choice = chooseRule(seen.rules ?? [], matches, now)
    if (!choice) return null
    if (choice.kind === 'timed') {
      if (choice.isFirst) await startTimedRule(db, seen, choice.index, choice.until)
      return choice.fault
    }
    const isCounted = await countDown(db, seen, choice.index, choice.counter)
    if (isCounted) return choice.fault
    // Other requests used up this count, or the rules were replaced.
    seen = await findRules(db, seen._id)
  }
  return null
}

/** What happens to a request or hint that matches a rule. */
type Choice = { index: number } & (
  | { kind: 'timed'; fault: Fault; until: Date; isFirst: boolean }
  /** `fault` is null while requests still pass. `counter` is the one to count down. */
  | { kind: 'counted'; fault: Fault | null; counter: keyof FaultRule['left'] }
)

/** Chooses the first matching rule that is not used up. Returns null if there is none. */
export function chooseRule(
  rules: FaultRule[],
  matches: (rule: FaultRule) => boolean,
  now: Date,
): Choice | null {
  const index = rules.findIndex((rule) => matches(rule) && !isUsedUp(rule, now))
  const rule = rules[index]
  if (!rule) return null
  if (rule.lasts_milliseconds === null) {
    if (rule.left.after > 0) return { kind: 'counted', index, counter: 'after', fault: null }
    return { kind: 'counted', index, counter: 'times', fault: rule }
  }
  const until = rule.until ?? new Date(now.getTime() + rule.lasts_milliseconds)
  const retry_after_seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
  return {
    kind: 'timed',
    index,
    until,
    isFirst: rule.until === null,
    fault: { ...rule, retry_after_seconds },
  }
}

function isUsedUp({ lasts_milliseconds, until, left }: FaultRule, now: Date): boolean {
  if (lasts_milliseconds !== null) return until !== null && until <= now
  return left.after === 0 && left.times === 0
}
