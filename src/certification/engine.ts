/*
 * A certification plays the steps of its course one after another. A step has three states. Each state is stored before
 * what follows it is done, so another process can continue from any state if this process dies.
 *
 *   begun ── release ──► released ── play ──► played ── check ──┬── not decided yet ──► played, checked again in a second
 *                                                               ├── done or late ─────► the next step, begun
 *                                                               └── no step is left ──► the end
 *
 * - A step begins with a memo of what it needs later, such as the host's last version.
 * - `release` injects the step's faults and lets held requests go. A process that finds the step `released` does not
 *   repeat this, because the faults may have started.
 * - `play` makes the step's changes in the sandbox and asks the product to act. Playing a step twice is harmless.
 * - `check` grades what the product has done since the step began. It reads this from records, which are written while
 *   the product's requests are served: the pipeline (`http/pipeline.ts`) goes through the sandbox's `visit`
 *   (`sandbox/visit.ts`), which reports each request to its observer, `record/recording.ts` (`process/wiring.ts`).
 *
 * From any state, the certification ends early if its sandbox was cleared, if its key has ended, or if no step was
 * completed for two hours.
 */

import { findUnexpiredKeyIds } from '../access/keys/store.ts'
import { releaseHeld } from '../host-clock/change-store.ts'
import { readHostClock } from '../host-clock/store.ts'
import type { AppContext } from '../http/context.ts'
import { countedRule, type FaultName, type FaultRule, timedRule } from '../sandbox/faults/rule.ts'
import type { SandboxContext } from '../sandbox/sandbox-context.ts'
import { endObservation, findRules, replaceRules } from '../sandbox/store.ts'
import type { Bounds } from './course/cases.ts'
import { courseOf, startStep } from './course/course.ts'
import { withoutAutomaticRetries } from './course/grading.ts'
import {
  askToStart,
  type CourseStep,
  failed,
  type PlayedRun,
  type Results,
  type Run,
  type StepFindings,
} from './course/step.ts'
import type { Case, Certification, StartedCertification, Step } from './model.ts'
import { deleteRecords, findRecords } from './record/store.ts'
import { changeCertification, findUnswept, keepNewestEnded, markSwept, storeEnd } from './store.ts'

/** Returns the first `step` and `next` of a course. The step only asks for the start, so it needs no playing. */
export function firstStep(now: Date): Pick<Certification, 'step' | 'next'> {
  const step = newStep({ index: 0, after: 0, memo: { after: now }, now })
  return { step: { ...step, state: 'played', played_at: now }, next: askToStart }
}

/**
 * Maximum time for filling the sandbox. After this time, the filling process is presumed dead and the certification
 * fails.
 */
const fillMilliseconds = 120_000

/**
 * Advances a certification by what its step's state allows; see the diagram above.
 *
 * @returns the time spent loading the recorded requests, in milliseconds
 */
export async function advance(
  app: SandboxContext,
  bounds: Bounds,
  certification: Certification,
): Promise<number> {
  const now = app.clockWatch.databaseNow()
  if (!isStarted(certification)) {
    if (now.getTime() - certification.started_at.getTime() > fillMilliseconds)
      await endCertification(app, certification, 'failed', 'The sandbox could not be filled')
    return 0
  }
  const run = { app, bounds, certification, now }
  const sandbox = await findRules(app.db, certification.sandbox_id)
  if (!sandbox) {
    await endCertification(app, certification, 'failed', 'The sandbox was cleared')
    return 0
  }
  const ending = await endingOf(run)
  if (ending) {
    await endCertification(app, certification, ending.status, ending.because)
    return 0
  }
  const { state } = certification.step
  if (state === 'begun') {
    await release(run)
    return 0
  }
  if (state === 'released') {
    await play(run)
    return 0
  }
  const startedAt = performance.now()
  const played = await withReaction(run, sandbox.rules)
  const loadingMilliseconds = performance.now() - startedAt
  await check(played)
  return loadingMilliseconds
}

/** Delay between the end of a certification and the sweep of late requests' records. */
const sweepMilliseconds = 60_000

/**
 * Ends a certification even if it has changed since it was read. Nothing is recorded or played afterwards, and the
 * recorded requests and deliveries are deleted.
 *
 * @param because reason given for skipping undecided cases
 */
export async function endCertification(
  { db, clockWatch }: Pick<AppContext, 'db' | 'clockWatch'>,
  certification: Certification,
  status: Ending['status'] | 'passed',
  because: string,
): Promise<void> {
  const { _id, key_id } = certification
  const now = clockWatch.databaseNow()
  await endObservation(db, key_id, _id)
  const cases = certification.cases.map(
    (one): Case => (one.status === 'waiting' ? { ...one, status: 'skipped', because } : one),
  )
  const hasEnded = await storeEnd(db, _id, {
    status,
    ended_at: now,
    cases,
    step: null,
    next: null,
    facts: {},
    secret: null,
    sweep_at: new Date(now.getTime() + sweepMilliseconds),
  })
  if (!hasEnded) return
  await deleteRecords(db, _id)
  await keepNewestEnded(db, key_id)
}

/**
 * Deletes the records of ended certifications again, because requests that were in progress at the end may have been
 * recorded since.
 */
export async function sweepRecords({ db }: Pick<AppContext, 'db'>, now: Date): Promise<void> {
  for (const id of await findUnswept(db, now)) {
    await deleteRecords(db, id)
    await markSwept(db, id)
  }
}

/** Why a certification ends before its course does. */
interface Ending {
  status: 'failed' | 'expired'
  because: string
}

/** Returns why a certification whose sandbox is open must end now; null if it may continue. */
async function endingOf({ app, bounds, certification: { key_id, step }, now }: Run): Promise<Ending | null> {
  if (!(await findUnexpiredKeyIds(app.liveDb, [key_id], now)).has(key_id))
    return { status: 'failed', because: 'The key was revoked or has expired' }
  if (now.getTime() - step.began_at.getTime() > bounds.expiry)
    return { status: 'expired', because: 'No step was completed for two hours' }
  return null
}

/** Returns true if a certification's sandbox has been filled, so that its course has begun. */
export function isStarted(certification: Certification): certification is StartedCertification {
  return certification.sandbox_id !== null && certification.step !== null
}

function courseStepOf({ certification: { profiles, step } }: Run): CourseStep {
  return courseOf(profiles)[step.index] as CourseStep
}

/** `begun` → `released`: injects the step's faults, lets held requests go, and then plays the step. */
async function release(run: Run): Promise<void> {
  const { app, bounds, certification, now } = run
  // The product must not read any of the step's changes before all of them are visible, so the first fault lasts until
  // the step has been played.
  const hasChanges = courseStepOf(run).play !== undefined
  await injectFaults(run, hasChanges ? new Date(now.getTime() + bounds.expiry) : null)
  await releaseHeld(app.db, certification.sandbox_id)
  const released = await store(run, { step: { ...certification.step, state: 'released' } })
  if (released) await play(released)
}

/** `released` → `played`: makes the step's changes, and asks the product to act. */
async function play(run: Run): Promise<void> {
  const { app, bounds, certification } = run
  const courseStep = courseStepOf(run)
  if (courseStep.play) {
    await Bun.sleep(bounds.settle)
    await courseStep.play(run)
    // All faults are reset, and each starts at the next request to its route.
    if (courseStep.faults) await injectFaults(run, null)
  }
  const now = app.clockWatch.databaseNow()
  const next = typeof courseStep.next === 'function' ? await courseStep.next(run) : courseStep.next
  const step: Step = { ...certification.step, state: 'played', played_at: now, progress_at: now }
  await store(run, { next, step })
}

/**
 * Replaces the sandbox's rules by the step's faults.
 *
 * @param until end of the timed faults; null if each starts at the next request to its route
 */
async function injectFaults(run: Run, until: Date | null): Promise<void> {
  const { app, certification } = run
  const { faults, hintFault } = courseStepOf(run)
  const rules = (faults?.(run) ?? []).map((fault) => timedRule(fault, until))
  if (hintFault) rules.push(everyHint(hintFault))
  await replaceRules(app.db, certification.sandbox_id, rules, certification._id)
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

/**
 * Loads how the product has reacted to the step. The records and the rules were read after `run.now`, so they include
 * every request answered before that time.
 */
async function withReaction(run: Run, rules: FaultRule[]): Promise<PlayedRun> {
  const { app, bounds, certification } = run
  const { _id, step } = certification
  const records = await findRecords(app.db, _id, step.after)
  return {
    ...run,
    records: withoutAutomaticRetries(records, bounds.runtime),
    lastOrdinal: Math.max(step.after, ...records.map(({ ordinal }) => ordinal)),
    faults: rules.filter(({ lasts_milliseconds }) => lasts_milliseconds !== null),
  }
}

/** `played`: grades the product's reaction, and begins the next step if this step is done or late. */
async function check(run: PlayedRun): Promise<void> {
  const { certification } = run
  const { step } = certification
  const courseStep = courseStepOf(run)
  const findings = await courseStep.check(run)
  const isStepLate = isLate(courseStep, findings, run)
  const results = isStepLate
    ? { ...(await resultsOfLate(courseStep, run)), ...findings.results }
    : (findings.results ?? {})
  const cases = grade(certification.cases, results)
  if (findings.isDone || isStepLate) {
    const facts = { ...certification.facts, ...findings.facts }
    return beginNextStep({ ...run, certification: { ...certification, cases, facts } })
  }
  const progress = findings.progress ?? 0
  const change: Partial<Certification> = {
    ...(findings.results ? { cases } : {}),
    ...(findings.next ? { next: findings.next } : {}),
    ...(progress > step.progress ? { step: { ...step, progress, progress_at: run.now } } : {}),
  }
  if (Object.keys(change).length > 0) await store(run, change)
}

/**
 * Returns true if a step that is not done has made no progress for too long. A step carried out by a person cannot be
 * late until its first request has arrived.
 */
export function isLate(
  { manualRoute, late, timeout }: Pick<CourseStep, 'manualRoute' | 'late' | 'timeout'>,
  findings: StepFindings,
  { bounds, now, records, certification }: Pick<PlayedRun, 'bounds' | 'now' | 'records' | 'certification'>,
): boolean {
  if (findings.isDone || !late) return false
  const { step } = certification
  const hasProgress = (findings.progress ?? 0) > step.progress
  if (hasProgress) return false
  const first = records.find(({ operation }) => operation === manualRoute)
  if (manualRoute && !first) return false
  const since = Math.max(step.progress_at.getTime(), first?.at.getTime() ?? 0)
  return now.getTime() - since > (timeout?.(bounds) ?? bounds.stepTimeout)
}

/** Returns the results of a late step, by case. */
async function resultsOfLate(courseStep: CourseStep, run: PlayedRun): Promise<Results> {
  const late = (await courseStep.late?.(run)) ?? {}
  if (typeof late !== 'string') return late
  return Object.fromEntries(courseStep.cases.map((name) => [name, failed(late, run.records)]))
}

/** Maximum number of request ids listed for a failed case. */
const shownRequests = 20

/** Returns the cases with the new results. Cases that have already been decided stay unchanged. */
function grade(cases: Case[], results: Results): Case[] {
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

/**
 * Stores the next step as `begun` and plays it, or ends the certification if no step is left.
 *
 * @param done the certification at the step that is over, with cases and facts that are not stored yet
 */
async function beginNextStep(done: PlayedRun): Promise<void> {
  const { app, certification, lastOrdinal } = done
  const { profiles, cases, facts, sandbox_id } = certification
  const course = courseOf(profiles)
  const index = certification.step.index + 1
  if (index === course.length) {
    const hasPassed = cases.every(({ status }) => status === 'passed')
    const because = 'The course ended before this case could be graded'
    return endCertification(app, certification, hasPassed ? 'passed' : 'failed', because)
  }
  // A product may act as soon as it starts, before `next` asks for an action, so requests sent during `startStep` also
  // count.
  const after = courseStepOf(done) === startStep ? certification.step.after : lastOrdinal
  const hostClock = await readHostClock(app.db, sandbox_id)
  const now = app.clockWatch.databaseNow()
  const begun = newStep({ index, after, memo: { after: hostClock }, now })
  const run: Run = { ...done, now, certification: { ...certification, step: begun } }
  const memo = { ...begun.memo, ...(await courseStepOf(run).prepare?.(run)) }
  // The step is stored before it is played, so that another process can take it over.
  const stored = await store(run, { cases, facts, step: { ...begun, memo } })
  if (stored) await release(stored)
}

/** What is known of a step when it begins. */
interface NewStep extends Pick<Step, 'index' | 'after' | 'memo'> {
  now: Date
}

function newStep({ index, after, memo, now }: NewStep): Step {
  return {
    id: crypto.randomUUID(),
    index,
    state: 'begun',
    began_at: now,
    after,
    played_at: null,
    progress: 0,
    progress_at: now,
    memo,
  }
}

/** Stores a change. Returns the run with the changed certification; null if it has changed or ended in the meantime. */
async function store(run: Run, change: Partial<Certification>): Promise<Run | null> {
  const certification = await changeCertification(run.app.db, run.certification, change)
  return certification && isStarted(certification) ? { ...run, certification } : null
}
