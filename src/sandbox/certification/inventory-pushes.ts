import { isLongSince } from './faults.ts'
import type { RequestRecord } from './model.ts'
import { isGood, ofOperation, operations } from './reads.ts'
import type { Run } from './step.ts'

/** The route by which units are pushed. */
export const route = operations.availability

/** The pushes since the step began. */
export const pushes = (run: Run) => ofOperation(run, route)

/** How many items, or nights, were pushed. */
export const sum = (records: RequestRecord[], of: 'items' | 'nights') =>
  records.filter(isGood).reduce((total, record) => total + record[of], 0)

/** True when what was pushed is all: nights are seen a moment before the request that pushed them is recorded. */
export function isAll(run: Run): boolean {
  const last = pushes(run).findLast(isGood)
  return last !== undefined && isLongSince(run, last)
}
