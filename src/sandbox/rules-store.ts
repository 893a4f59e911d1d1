import type { HintFault } from '../changes/webhooks/hint.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { type Fault, type FaultRule, isHintFault } from './faults/rule.ts'
import { type Sandbox, sandboxModel } from './model.ts'

/** A sandbox's rules, with an id that shows whether they have been replaced since they were read. */
type Rules = Pick<Sandbox, '_id' | 'rules' | 'rules_id' | 'observer_id'>

/** Returns the rules of an open sandbox, or null if the sandbox is not open. */
export function findRules(db: Db, sandboxId: number): Promise<Rules | null> {
  const fields = { rules: 1, rules_id: 1, observer_id: 1 }
  return sandboxModel(db).findOne({ _id: sandboxId, state: 'open' }, fields).lean()
}

/** Replaces all rules of an open sandbox if `observerId` is its current observer; null means no observer. */
export async function replaceRules(
  db: Db,
  sandboxId: number,
  rules: FaultRule[],
  observerId: number | null = null,
): Promise<void> {
  const change = { rules, rules_id: crypto.randomUUID() }
  await sandboxModel(db).updateOne(
    { _id: sandboxId, state: 'open', observer_id: observerId },
    { $set: change },
  )
}

/** Starts observing a sandbox. */
export async function beginObservation(db: Db, sandboxId: number, observerId: number): Promise<void> {
  await sandboxModel(db).updateOne({ _id: sandboxId, state: 'open' }, { $set: { observer_id: observerId } })
}

/** Stops observing a key's open sandbox and removes its rules, if `observerId` is still the sandbox's observer. */
export async function endObservation(db: Db, keyId: number, observerId: number): Promise<void> {
  await sandboxModel(db).updateOne(
    { key_id: keyId, state: 'open', observer_id: observerId },
    { $set: { observer_id: null, rules: [], rules_id: crypto.randomUUID() } },
  )
}

/**
 * Counts a request to a route, such as `POST /sandbox/bookings`. Returns the fault to inject into the request, or null.
 *
 * @param now current time on the database's clock
 */
export function takeRequestFault(db: Db, found: Rules, route: string, now: Date): Promise<Fault | null> {
  const isOf = (rule: FaultRule) => !isHintFault(rule.fault) && (rule.route === null || rule.route === route)
  return takeRule(db, found, now, isOf)
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
  const taken = await takeRule(db, found, now, isOf)
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
async function takeRule(
  db: Db,
  found: Rules | null,
  now: Date,
  matches: (rule: FaultRule) => boolean,
): Promise<Fault | null> {
  let seen = found
  while (seen) {
    const { _id, rules = [], rules_id } = seen
    const index = rules.findIndex((rule) => matches(rule) && !isUsedUp(rule, now))
    const rule = rules[index]
    if (!rule) return null
    const ofRule = { _id, state: 'open', rules_id } as const
    if (rule.lasts_milliseconds !== null) {
      const until = rule.until ?? new Date(now.getTime() + rule.lasts_milliseconds)
      const end = `rules.${index}.until`
      if (!rule.until)
        await sandboxModel(db).updateOne({ ...ofRule, [end]: null }, { $set: { [end]: until } })
      return { ...rule, retry_after_seconds: Math.max(1, Math.ceil((Number(until) - Number(now)) / 1000)) }
    }
    const counter = rule.left.after > 0 ? 'after' : 'times'
    const left = `rules.${index}.left.${counter}`
    const { modifiedCount } = await sandboxModel(db).updateOne(
      { ...ofRule, [left]: { $gt: 0 } },
      { $inc: { [left]: -1 } },
    )
    if (modifiedCount === 1) return counter === 'times' ? rule : null
    // Other requests used up this count, or the rules were replaced.
    seen = await findRules(db, _id)
  }
  return null
}

function isUsedUp({ lasts_milliseconds, until, left }: FaultRule, now: Date): boolean {
  if (lasts_milliseconds !== null) return until !== null && until <= now
  return left.after === 0 && left.times === 0
}
