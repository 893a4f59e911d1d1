import { findUnexpiredKeyIds } from '../access/keys/store.ts'
import { releaseHeld } from '../host-clock/change-store.ts'
import { readHostClock } from '../host-clock/store.ts'
import type { SandboxContext } from '../sandbox/context.ts'
import { countedRule, type FaultName, type FaultRule, timedRule } from '../sandbox/faults/rule.ts'
import { isOpen } from '../sandbox/life-store.ts'
import { findRules, replaceRules } from '../sandbox/rules-store.ts'
import { bookingSteps } from './course/booking-steps.ts'
import type { Bounds, Profile } from './course/cases.ts'
import { feedSteps } from './course/feed-steps.ts'
import { webhookSteps } from './course/hint-steps.ts'
import { inventorySteps } from './course/inventory-steps.ts'
import {
  type CourseStep,
  failed,
  type Results,
  type Run,
  type StepFindings,
  start,
  withoutAutomaticRetries,
} from './course/step.ts'
import type { Case, Certification } from './model.ts'
import { changeCertification, endCertification, findRecords, newStep } from './store.ts'

const stepsOf: Record<Profile, CourseStep[]> = {
  feed: feedSteps,
  inventory: inventorySteps,
  bookings: bookingSteps,
  webhooks: webhookSteps,
}

/**
 * The first step of a course that does not grade the product's start. The product may send no request until it is asked
 * to take an action, so the step also completes after `bounds.silence`.
 */
const startStep: CourseStep = {
  name: 'begin',
  cases: [],
  next: start,
  check: async ({ records, now, step, bounds }) => ({
    isDone: records.length > 0 || now.getTime() - step.began_at.getTime() > bounds.silence,
  }),
}

/** Returns a certification's steps in order. The first step always asks the partner to start the product. */
export function courseOf(chosen: readonly Profile[]): CourseStep[] {
  const steps = chosen.flatMap((profile) => stepsOf[profile])
  return steps[0]?.next === start ? steps : [startStep, ...steps]
}

/**
 * Returns the initial `step` and `next` of a course. The first step asks the partner to start the product and plays
 * nothing.
 */
export function firstStep(now: Date): Pick<Certification, 'step' | 'next'> {
  const step = newStep({ index: 0, after: 0, memo: { after: now }, now })
  return { step: { ...step, state: 'played', played_at: now }, next: start }
}

/**
 * Maximum time for filling the sandbox. After this time, the filling process is presumed dead and the certification
 * fails.
 */
const fillMilliseconds = 120_000

/**
 * Advances a certification: plays its step or examines the product's reaction, starts the next step once the current
 * step is done, and ends the certification after the last step. All state is in the database, so another process can
 * continue if this process is killed.
 *
 * @returns the time spent loading the recorded requests, in milliseconds
 */
export async function advance(
  app: SandboxContext,
  bounds: Bounds,
  certification: Certification,
): Promise<number> {
  const now = app.clockWatch.databaseNow()
  const { sandbox_id: sandboxId, step, started_at, key_id } = certification
  const end = (status: 'failed' | 'expired', because: string) =>
    endCertification(app, certification, status, because)
  if (sandboxId === null || !step) {
    if (now.getTime() - started_at.getTime() > fillMilliseconds)
      await end('failed', 'The sandbox could not be filled')
  } else if (!(await isOpen(app.db, sandboxId))) await end('failed', 'The sandbox was cleared')
  else if (!(await findUnexpiredKeyIds(app.liveDb, [key_id], now)).has(key_id))
    await end('failed', 'The key was revoked or has expired')
  else if (now.getTime() - step.began_at.getTime() > bounds.expiry)
    await end('expired', 'No step was completed for two hours')
  else {
    const start = performance.now()
    const run = await runOf({ app, bounds, sandboxId, certification, step })
    const read = performance.now() - start
    if (step.state === 'played') await checkStep(run)
    else await playStep(run)
    return read
  }
  return 0
}

/** Loads the state that a certification's step needs. */
async function runOf(
  given: Pick<Run, 'app' | 'bounds' | 'sandboxId' | 'certification' | 'step'>,
): Promise<Run> {
  const { app, bounds, sandboxId, certification, step } = given
  // The time is read before the records, so that the records include every request answered before that time.
  const now = app.clockWatch.databaseNow()
  const [records, played] = await Promise.all([
    findRecords(app.db, certification._id, step.after),
    findRules(app.db, sandboxId),
  ])
  return {
    ...given,
    keyId: certification.key_id,
    now,
    playedAt: step.played_at ?? step.began_at,
    lastOrdinal: Math.max(step.after, ...records.map(({ ordinal }) => ordinal)),
    records: withoutAutomaticRetries(records, bounds.runtime),
    faults: (played?.rules ?? []).filter(({ lasts_milliseconds }) => lasts_milliseconds !== null),
  }
}

function courseStepOf({ certification, step }: Run): CourseStep {
  return courseOf(certification.profiles)[step.index] as CourseStep
}

async function playStep(run: Run): Promise<void> {
  const { app, bounds, sandboxId, certification, step } = run
  const { db, clockWatch } = app
  const courseStep = courseStepOf(run)
  let present: Certification | null = certification
  const faults = courseStep.faults?.(run) ?? []
  const hints = courseStep.hintFault ? [everyHint(courseStep.hintFault)] : []
  const set = (until: Date | null) =>
    replaceRules(
      db,
      sandboxId,
      [...faults.map((fault) => timedRule(fault, until)), ...hints],
      certification._id,
    )
  // A process that takes over a released step must not restart faults that have already started.
  if (step.state === 'begun') {
    // The product must not read any of the step's changes before all of them are visible, so the first fault lasts
    // until the step has been played. After that, all faults are reset and start with the next matching request.
    const until = courseStep.play ? new Date(run.now.getTime() + bounds.expiry) : null
    await set(until)
    await releaseHeld(db, sandboxId)
    present = await changeCertification(db, certification, { step: { ...step, state: 'released' } })
    if (!present) return
  }
  if (courseStep.play) {
    await Bun.sleep(bounds.settle)
    await courseStep.play(run)
    if (faults.length > 0) await set(null)
  }
  const now = clockWatch.databaseNow()
  const next = typeof courseStep.next === 'function' ? await courseStep.next(run) : courseStep.next
  await changeCertification(db, present, {
    next,
    step: { ...step, state: 'played', played_at: now, progress_at: now },
  })
}

/** Returns a rule that injects a fault into every hint. */
function everyHint(fault: FaultName): FaultRule {
  return countedRule({
    fault,
    operation: null,
    route: null,
    event: null,
    after: 0,
    times: Number.MAX_SAFE_INTEGER,
    retry_after_seconds: 1,
    delay_milliseconds: 0,
  })
}

/** Examines the product's reaction to the played step, and moves on if the step is done or late. */
async function checkStep(run: Run): Promise<void> {
  const { app, certification, step } = run
  const courseStep = courseStepOf(run)
  const findings = await courseStep.check(run)
  const isLate = !findings.isDone && isLateAt(courseStep, run, findings)
  const results = isLate
    ? { ...(await lateResults(courseStep, run)), ...findings.results }
    : (findings.results ?? {})
  const cases = grade(certification, results)
  if (findings.isDone || isLate) {
    const facts = { ...certification.facts, ...findings.facts }
    return beginNextStep({ ...certification, cases, facts }, run)
  }
  const progress = findings.progress ?? 0
  const change = {
    ...(findings.results ? { cases } : {}),
    ...(findings.next ? { next: findings.next } : {}),
    ...(progress > step.progress ? { step: { ...step, progress, progress_at: run.now } } : {}),
  }
  if (Object.keys(change).length > 0) await changeCertification(app.db, certification, change)
}

/**
 * Starts the next step, or ends the certification if no step is left.
 *
 * @param certification the certification with the current step's cases and facts, which are not stored yet
 */
async function beginNextStep(certification: Certification, done: Run): Promise<void> {
  const { app, bounds, sandboxId } = done
  const { profiles, cases, facts } = certification
  const course = courseOf(profiles)
  const index = done.step.index + 1
  if (index === course.length) {
    const hasPassed = cases.every(({ status }) => status === 'passed')
    const because = 'The course ended before this case could be graded'
    return endCertification(app, certification, hasPassed ? 'passed' : 'failed', because)
  }
  // A product may act as soon as it starts, before `next` asks for an action, so requests sent during `startStep` also
  // count.
  const after = course[done.step.index] === startStep ? done.step.after : done.lastOrdinal
  const clock = await readHostClock(app.db, sandboxId)
  const begun = newStep({ index, after, memo: { after: clock }, now: app.clockWatch.databaseNow() })
  const run = await runOf({ app, bounds, sandboxId, certification, step: begun })
  const step = { ...begun, memo: { ...begun.memo, ...(await courseStepOf(run).prepare?.(run)) } }
  // The step is stored before it is played, so that another process can take it over.
  const stored = await changeCertification(app.db, certification, { cases, facts, step })
  if (stored) await playStep({ ...run, certification: stored, step })
}

/**
 * Returns true if a step has made no progress for too long. A step carried out by a person cannot be late until its
 * first request has arrived.
 */
function isLateAt(
  courseStep: CourseStep,
  { bounds, now, records, step }: Run,
  findings: StepFindings,
): boolean {
  const { manualRoute, late, timeout } = courseStep
  const first = records.find(({ operation }) => operation === manualRoute)
  const hasProgress = (findings.progress ?? 0) > step.progress
  if (!late || hasProgress || (manualRoute && !first)) return false
  const since = Math.max(step.progress_at.getTime(), first?.at.getTime() ?? 0)
  return now.getTime() - since > (timeout?.(bounds) ?? bounds.stepTimeout)
}

/** Returns the results of a late step, by case. */
async function lateResults(courseStep: CourseStep, run: Run): Promise<Results> {
  const late = (await courseStep.late?.(run)) ?? {}
  if (typeof late !== 'string') return late
  return Object.fromEntries(courseStep.cases.map((name) => [name, failed(late, run.records)]))
}

/** Maximum number of request ids listed for a failed case. */
const shownRequests = 20

/** Returns the cases with the new results. Cases that have already been decided stay unchanged. */
function grade({ cases }: Certification, results: Results): Case[] {
  return cases.map((one) => {
    const result = results[one.name]
    if (!result || one.status !== 'waiting') return one
    const ids = (result.evidence ?? []).map(({ request_id }) => request_id).filter((id) => id !== null)
    return {
      name: one.name,
      status: result.status,
      because: result.because ?? null,
      request_ids: result.status === 'failed' ? ids.slice(-shownRequests) : [],
    }
  })
}
