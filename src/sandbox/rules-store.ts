import { type FaultRule, isHintFault } from '../http/fault-rule.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { type Sandbox, sandboxModel } from './model.ts'

/** The rules of a sandbox, and which they are: they may be replaced while they are looked at. */
export type Rules = Pick<Sandbox, '_id' | 'rules' | 'rules_id'>

/** The rules of a sandbox that is open. */
export function findRules(db: Db, scope: number): Promise<Rules | null> {
  return sandboxModel(db).findOne({ _id: scope, state: 'open' }, { rules: 1, rules_id: 1 }).lean()
}

/** Puts rules in the place of those of before. */
export async function replaceRules(db: Db, scope: number, rules: FaultRule[]): Promise<void> {
  const change = { rules, rules_id: crypto.randomUUID() }
  await sandboxModel(db).updateOne({ _id: scope, state: 'open' }, { $set: change })
}

/** Counts a request to a route, as `POST /sandbox/bookings`; returns the rule that it meets, or null. */
export function takeRequestRule(db: Db, found: Rules, route: string): Promise<FaultRule | null> {
  const isOf = (rule: FaultRule) => !isHintFault(rule.fault) && (rule.route === null || rule.route === route)
  return takeRule(db, found, isOf)
}

/** Counts the first try of a hint; returns the rule that it meets, or null. */
export async function takeHintRule(db: Db, scope: number, event: string): Promise<FaultRule | null> {
  const isOf = (rule: FaultRule) => isHintFault(rule.fault) && (rule.event === null || rule.event === event)
  return takeRule(db, await findRules(db, scope), isOf)
}

/**
 * Counts something against the first rule that matches it and is not used up; exact, however many processes do so at
 * once.
 *
 * @param found the rules as they were read
 * @returns the rule, if it is met
 */
async function takeRule(
  db: Db,
  found: Rules | null,
  matches: (rule: FaultRule) => boolean,
): Promise<FaultRule | null> {
  let seen = found
  while (seen) {
    const { _id, rules = [], rules_id } = seen
    const index = rules.findIndex((rule) => matches(rule) && (rule.left.after > 0 || rule.left.times > 0))
    const rule = rules[index]
    if (!rule) return null
    const counter = rule.left.after > 0 ? 'after' : 'times'
    const left = `rules.${index}.left.${counter}`
    const { modifiedCount } = await sandboxModel(db).updateOne(
      { _id, state: 'open', rules_id, [left]: { $gt: 0 } },
      { $inc: { [left]: -1 } },
    )
    if (modifiedCount === 1) return counter === 'times' ? rule : null
    // Others have used it up, or it was replaced.
    seen = await findRules(db, _id)
  }
  return null
}
