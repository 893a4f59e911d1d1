import type { CaseName } from './cases.ts'
import type { Case, Certification, Step } from './model.ts'
import type { CourseStep, Look, Result, Run } from './step.ts'

/**
 * True if a step has made no progress for too long. A step without cases is never late, and a step that a person
 * carries out is not late before its first request.
 */
export function isLateAt(
  course: CourseStep,
  { bounds, now, records }: Run,
  step: Step,
  { progress = 0 }: Look,
): boolean {
  const { byHand, serve } = course
  const first = records.find(({ operation }) => byHand?.includes(operation))
  if (course.cases.length === 0 || progress > step.progress || (byHand && !first)) return false
  const since = Math.max(step.progress_at.getTime(), first?.at.getTime() ?? 0)
  return now.getTime() - since > (serve?.(bounds) ?? bounds.serve)
}

/** Returns the results for the cases of a late step. */
export async function lateResults(course: CourseStep, run: Run): Promise<Partial<Record<CaseName, Result>>> {
  const late = await course.late(run)
  if (typeof late !== 'string') return late
  return Object.fromEntries(
    course.cases.map((name) => [name, { status: 'failed', because: late, seen: run.records }]),
  )
}

/** Maximum number of request ids listed for a failed case. */
const shownRequests = 20

/** Returns the cases with their results. Decided cases stay unchanged. */
export function grade({ cases }: Certification, results: Look['results'] = {}): Case[] {
  return cases.map((one) => {
    const result = results[one.name]
    if (!result || one.status !== 'waiting') return one
    const ids = (result.seen ?? []).flatMap(({ request_id }) => request_id ?? [])
    return {
      name: one.name,
      status: result.status,
      because: result.because ?? null,
      request_ids: result.status === 'failed' ? ids.slice(-shownRequests) : [],
    }
  })
}
