import type { RequestRecord } from './model.ts'
import { isGood, isLost } from './reads.ts'
import type { Result, Run } from './step.ts'

/** True when the faults of a step were met, and are over. */
export function areOver({ faults, now }: Pick<Run, 'faults' | 'now'>): boolean {
  return faults.every(({ until }) => until !== null && until <= now)
}

/** When the last fault of a step was over. */
export function overAt({ faults, playedAt }: Pick<Run, 'faults' | 'playedAt'>): Date {
  return new Date(Math.max(playedAt.getTime(), ...faults.map(({ until }) => until?.getTime() ?? 0)))
}

/** How many faults of a step were met so far. */
export function metFaults({ faults }: Pick<Run, 'faults'>): number {
  return faults.filter(({ until }) => until !== null).length
}

/** Those requests that met a fault after the first that did was answered; and how many were on their way by then. */
function furtherOnes(records: RequestRecord[], fault: string) {
  const met = records.filter((record) => record.fault === fault)
  const [first] = met
  const answered = first?.answered_at ?? new Date(0)
  const further = met.filter(({ at }) => at > answered)
  return { further, inFlight: Math.max(0, met.length - further.length - 1) }
}

/** Grades what followed a fault: so many further requests are allowed, beside those that were on their way already. */
export function gradeFurther(
  records: RequestRecord[],
  { fault, allowed, because }: { fault: string; allowed: number; because: (further: number) => string },
): Result {
  const { further, inFlight } = furtherOnes(records, fault)
  return further.length <= inFlight + allowed
    ? { status: 'passed' }
    : { status: 'failed', because: because(further.length), seen: further }
}

/** True when a request was answered well after the faults of a step were over. */
export function hasRecovered(run: Run, records: RequestRecord[]): boolean {
  return areOver(run) && records.some((record) => isGood(record) && record.at >= overAt(run))
}

/** The first request that was refused with 422, of which the product has received the response. */
export function firstRefused(records: RequestRecord[]): RequestRecord | undefined {
  return records.find((record) => record.status === 422 && !isLost(record))
}

/** Grades whether a refused body was sent again unchanged; null while that cannot be told. */
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

/** True when a request is so long ago that what would have followed it has come; also without one. */
export function isLongSince({ now, bounds }: Run, request: RequestRecord | undefined): boolean {
  return !request || now.getTime() - request.answered_at.getTime() > bounds.silence
}
