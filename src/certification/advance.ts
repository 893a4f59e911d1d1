import { findUnexpiredKeyIds } from '../access/keys/store.ts'
import type { SandboxContext } from '../sandbox/context.ts'
import { findCourse, setCourseFaults } from '../sandbox/course-store.ts'
import { isOpen } from '../sandbox/life-store.ts'
import type { CourseFault } from '../sandbox/model.ts'
import { releaseHeld } from '../versions/change-store.ts'
import type { Bounds } from './bounds.ts'
import type { Profile } from './cases.ts'
import { courseOf } from './course.ts'
import { endCertification } from './end.ts'
import { grade, isLateAt, lateResults } from './grade.ts'
import type { Case, Certification, Step } from './model.ts'
import type { Next } from './next.ts'
import { longestPause, operations, withoutRepetitions } from './reads.ts'
import { findRecords } from './records-store.ts'
import type { CourseStep, Run } from './step.ts'
import { changeCertification } from './store.ts'

/** Time after which an unfilled sandbox means that the filling process has died and the certification cannot begin. */
const fillMilliseconds = 120_000

/**
 * Advances a certification by one look: begins its step, plays the step, or examines what the product has done, and
 * ends the certification when no step is left. The whole state is in the database, so if a process is killed, the next
 * one continues where it stopped.
 *
 * @returns how long reading the records took, in milliseconds
 */
export async function advance(
  app: SandboxContext,
  bounds: Bounds,
  certification: Certification,
): Promise<number> {
  const now = app.clockWatch.databaseNow()
  const { scope, step, started_at, key_id } = certification
  const end = (status: 'failed' | 'expired', because: string) =>
    endCertification(app, certification, status, because)
  if (scope === null) {
    if (now.getTime() - started_at.getTime() > fillMilliseconds)
      await end('failed', 'The sandbox could not be filled')
  } else if (!(await isOpen(app.db, scope))) await end('failed', 'The sandbox was cleared')
  else if (!(await findUnexpiredKeyIds(app.liveDb, [key_id], now)).has(key_id))
    await end('failed', 'The key has ended')
  else if (step && now.getTime() - step.began_at.getTime() > bounds.expiry)
    await end('expired', 'No step was done for two hours')
  else if (!step) await begin(app, bounds, certification, { index: 0, attempt: 1, after: 0 })
  else if (step.state !== 'played') await playStep(app, bounds, certification, step)
  else return lookAt(app, bounds, certification, step)
  return 0
}

function newStep(as: Pick<Step, 'index' | 'attempt' | 'after'>, now: Date): Step {
  return {
    ...as,
    ...{ id: crypto.randomUUID(), state: 'begun', played_at: null, progress: 0, memo: {} },
    ...{ began_at: now, progress_at: now },
  }
}

/** Returns a course's first step, which asks for the product to be started and plays nothing. */
export function firstStep(profiles: readonly Profile[], now: Date): Pick<Certification, 'step' | 'next'> {
  const { next } = courseOf(profiles)[0] as CourseStep
  const step = newStep({ index: 0, attempt: 1, after: 0 }, now)
  return { step: { ...step, state: 'played', played_at: now }, next: next as Next }
}

function stepOf({ profiles, step }: Certification): CourseStep {
  return courseOf(profiles)[step?.index ?? 0] as CourseStep
}

/** Stores the new step before any of it is played, so that another process can take it over. */
async function begin(
  app: SandboxContext,
  bounds: Bounds,
  certification: Certification,
  as: Pick<Step, 'index' | 'attempt' | 'after'>,
): Promise<void> {
  const now = app.clockWatch.databaseNow()
  const fresh = newStep(as, now)
  const begun = { ...certification, step: fresh }
  const course = stepOf(begun)
  const memo = (await course.prepare?.(await runOf(app, bounds, begun, fresh))) ?? {}
  const stored = await changeCertification(app.db, certification, { step: { ...fresh, memo } })
  if (stored?.step) await playStep(app, bounds, stored, stored.step)
}

async function playStep(
  app: SandboxContext,
  bounds: Bounds,
  certification: Certification,
  step: Step,
): Promise<void> {
  const { db, clockWatch } = app
  const course = stepOf(certification)
  const run = await runOf(app, bounds, certification, step)
  let present: Certification | null = certification
  const faults = (course.faults?.(run) ?? []).map((fault, index) => ({
    ...fault,
    ...{ id: `${step.id}/${index}`, until: null },
  }))
  // A process that takes over must not restart faults that have already been met.
  const known = new Map(run.faults.map((fault) => [fault.id, fault]))
  const set = (played: CourseFault[]) => setCourseFaults(db, run.hostId, played, course.hintFault ?? null)
  // The product must not read any played change before all of them are visible, so the first fault lasts until the step
  // has been played. Then all faults are reset.
  const until = new Date(run.now.getTime() + bounds.expiry)
  await set(faults.map((fault) => (course.play ? { ...fault, until } : (known.get(fault.id) ?? fault))))
  if (step.state === 'begun') {
    await releaseHeld(db, run.hostId)
    present = await changeCertification(db, certification, { step: { ...step, state: 'released' } })
    if (!present) return
  }
  if (course.play) {
    await Bun.sleep(bounds.settle)
    await course.play(run)
    if (faults.length > 0) await set(faults)
  }
  const now = clockWatch.databaseNow()
  const next = typeof course.next === 'function' ? course.next(run) : course.next
  await changeCertification(db, present, {
    next,
    step: { ...step, state: 'played', played_at: now, progress_at: now },
  })
}

/** Collects a certification's current state for its step. */
async function runOf(
  app: SandboxContext,
  bounds: Bounds,
  certification: Certification,
  step: Step,
): Promise<Run> {
  const { _id, key_id } = certification
  const hostId = certification.scope as number
  const recordsAfter = (count: number) => findRecords(app.db, _id, count)
  const [records, course] = await Promise.all([recordsAfter(step.after), findCourse(app.db, hostId)])
  return {
    ...{ app, bounds, hostId, certification, memo: step.memo, recordsAfter },
    keyId: key_id,
    now: app.clockWatch.databaseNow(),
    beganAt: step.began_at,
    playedAt: step.played_at ?? step.began_at,
    seen: Math.max(step.after, ...records.map(({ ordinal }) => ordinal)),
    records: withoutRepetitions(records, bounds.runtime),
    faults: course?.faults ?? [],
  }
}

async function lookAt(
  app: SandboxContext,
  bounds: Bounds,
  certification: Certification,
  step: Step,
): Promise<number> {
  const course = stepOf(certification)
  const start = performance.now()
  const run = await runOf(app, bounds, certification, step)
  const read = performance.now() - start
  const look = await course.look(run)
  const maySecondTry = step.attempt === 1 && !course.byHand
  const again = () =>
    begin(app, bounds, certification, { index: step.index, attempt: 2, after: run.seen }).then(() => read)
  if (look.isDoubtful && maySecondTry) return again()
  const isLate = !look.isDone && isLateAt(course, run, step, look)
  // A timeout fails a case only at the second attempt, because a busy machine may have caused the first one.
  if (isLate && maySecondTry && course.cases.length > 0) return again()
  const results = isLate ? { ...(await lateResults(course, run)), ...look.results } : (look.results ?? {})
  const graded = grade(certification, results)
  if (look.isDone || isLate) {
    await finish(app, bounds, certification, { run, step, cases: graded, facts: look.facts ?? {} })
    return read
  }
  const progress = Math.max(step.progress, look.progress ?? 0)
  const hasProgress = progress > step.progress
  const change = {
    ...(look.results ? { cases: graded } : {}),
    ...(look.next ? { next: look.next } : {}),
    ...(hasProgress ? { step: { ...step, progress, progress_at: run.now } } : {}),
  }
  if (Object.keys(change).length > 0) await changeCertification(app.db, certification, change)
  return read
}

interface Finished {
  run: Run
  step: Step
  cases: Case[]
  facts: Certification['facts']
}

/** Begins the next step, or ends the certification if there is none. */
async function finish(
  app: SandboxContext,
  bounds: Bounds,
  certification: Certification,
  { run, step, cases, facts }: Finished,
): Promise<void> {
  const course = stepOf(certification)
  const changed = await changeCertification(app.db, certification, {
    cases,
    facts: { ...certification.facts, ...facts },
    ...(paced.includes(course.name) ? { pace: Math.max(certification.pace, paceOf(run)) } : {}),
    ...(course.name === 'first-sync' ? { synced_after: run.seen } : {}),
  })
  if (!changed) return
  if (step.index + 1 < courseOf(changed.profiles).length)
    return begin(app, bounds, changed, {
      index: step.index + 1,
      attempt: 1,
      after: seenBefore(course, run, step),
    })
  const status = changed.cases.every((one) => one.status === 'passed') ? 'passed' : 'failed'
  await endCertification(app, changed, status, 'The course ended before it could be told')
}

/**
 * Returns the number of requests that the next step ignores. A product may do what the next step asks for as soon as it
 * starts, so requests of the `begin` step also count in the next step.
 */
function seenBefore({ name }: CourseStep, { seen }: Run, { after }: Step): number {
  return name === 'begin' ? after : seen
}

/** The steps that show the product's own pace. In them, nobody stops the product and no fault makes it wait. */
const paced = ['first-sync', 'changes']

function paceOf({ records }: Run): number {
  return longestPause(records.filter(({ operation }) => operation === operations.feed))
}
