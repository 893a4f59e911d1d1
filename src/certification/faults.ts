import type { RequestRecord } from './model.ts'
import { isGood, isLost } from './reads.ts'
import type { Result, Run } from './step.ts'

/** True if every fault of a step has been met and is over. */
export function areOver({ faults, now }: Pick<Run, 'faults' | 'now'>): boolean {
  return faults.every(({ until }) => until !== null && until <= now)
}

/** Returns the time at which a step's last fault ended or the step was played, whichever is later. */
export function overAt({ faults, playedAt }: Pick<Run, 'faults' | 'playedAt'>): Date {
  return new Date(Math.max(playedAt.getTime(), ...faults.map(({ until }) => until?.getTime() ?? 0)))
}

/** Returns how many of a step's faults have been met so far. */
export function metFaults({ faults }: Pick<Run, 'faults'>): number {
  return faults.filter(({ until }) => until !== null).length
}

/**
 * Splits the requests that met a fault after the first one did. `further` holds the requests that arrived after the
 * first was answered, and `inFlight` counts the requests that were already on their way.
 */
function furtherOnes(records: RequestRecord[], fault: string) {
  const met = records.filter((record) => record.fault === fault)
  const [first] = met
  const answered = first?.answered_at ?? new Date(0)
  const further = met.filter(({ at }) => at > answered)
  return { further, inFlight: Math.max(0, met.length - further.length - 1) }
}

/**
 * Grades the requests that followed a fault.
 *
 * @param allowed number of further requests tolerated in addition to those already on their way
 */
export function gradeFurther(
  records: RequestRecord[],
  { fault, allowed, because }: { fault: string; allowed: number; because: (further: number) => string },
): Result {
  const { further, inFlight } = furtherOnes(records, fault)
  return further.length <= inFlight + allowed
    ? { status: 'passed' }
    : { status: 'failed', because: because(further.length), seen: further }
}

/** True if a request that arrived after the step's faults ended has succeeded. */
export function hasRecovered(run: Run, records: RequestRecord[]): boolean {
  return areOver(run) && records.some((record) => isGood(record) && record.at >= overAt(run))
}

/** Returns the first request that was refused with 422 and whose response reached the product. */
export function firstRefused(records: RequestRecord[]): RequestRecord | undefined {
  return records.find((record) => record.status === 422 && !isLost(record))
}

/** Grades whether a refused body was sent again unchanged. Returns null while that is undecided. */
export function gradeRepeated(
  run: Run,
  records: RequestRecord[],
  refused: RequestRecord | undefined,
  because: string,
): Result | null {
  const again = records.filter(
    ({ body_hash, at }) => refused && body_hash === refused.body_hash && at > refused.answered_at,
  )
  if (again.length > 0) return { status: 'failed', because, seen: again }
  return isLongSince(run, refused) ? { status: 'passed' } : null
}

/**
 * True if a request was answered more than `bounds.silence` ago, so any follow-up would have arrived. Also true if
 * there is no request.
 */
export function isLongSince({ now, bounds }: Run, request: RequestRecord | undefined): boolean {
  return !request || now.getTime() - request.answered_at.getTime() > bounds.silence
}
