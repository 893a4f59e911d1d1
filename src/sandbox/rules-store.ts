import { type FaultRule, isHintFault } from '../http/fault-rule.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { type Sandbox, sandboxModel } from './model.ts'

/** A sandbox's rules, with an id that shows whether they have been replaced since they were read. */
export type Rules = Pick<Sandbox, '_id' | 'rules' | 'rules_id'>

/** Returns the rules of an open sandbox, or null if the sandbox is not open. */
export function findRules(db: Db, scope: number): Promise<Rules | null> {
  return sandboxModel(db).findOne({ _id: scope, state: 'open' }, { rules: 1, rules_id: 1 }).lean()
}

/** Replaces all rules of a sandbox. */
export async function replaceRules(db: Db, scope: number, rules: FaultRule[]): Promise<void> {
  const change = { rules, rules_id: crypto.randomUUID() }
  await sandboxModel(db).updateOne({ _id: scope, state: 'open' }, { $set: change })
}

/** Counts a request to a route, such as `POST /sandbox/bookings`. Returns the rule that the request meets, or null. */
export function takeRequestRule(db: Db, found: Rules, route: string): Promise<FaultRule | null> {
  const isOf = (rule: FaultRule) => !isHintFault(rule.fault) && (rule.route === null || rule.route === route)
  return takeRule(db, found, isOf)
}

/** Counts the first try of a hint. Returns the rule that the hint meets, or null. */
export async function takeHintRule(db: Db, scope: number, event: string): Promise<FaultRule | null> {
  const isOf = (rule: FaultRule) => isHintFault(rule.fault) && (rule.event === null || rule.event === event)
  return takeRule(db, await findRules(db, scope), isOf)
}

/**
 * Counts a request or hint against the first matching rule that is not used up. The counts are exact even if many
 * processes count concurrently.
 *
 * @param found the rules as they were read
 * @returns the rule if its fault must be played, otherwise null
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
    // Other requests have used the rule up, or it was replaced.
    seen = await findRules(db, _id)
  }
  return null
}
