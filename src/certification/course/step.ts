import { createHash } from 'node:crypto'
import type { FaultName, FaultRule } from '../../sandbox/faults/rule.ts'
import type { Stage } from '../../sandbox/scenarios/stage.ts'
import { findChanges } from '../../stays/bookings/store.ts'
import type { Certification, Facts, Memo, Next, RequestRecord, Step } from '../model.ts'
import type { Bounds, CaseName } from './cases.ts'

/** A step of a course, which plays changes or faults and then examines the product's reaction. */
export interface CourseStep {
  name: string
  /** The cases that this step decides. */
  cases: CaseName[]
  /**
   * Route that the step's requests go to. Present only if a person carries out the step. Such a step cannot be late
   * until its first request has arrived.
   */
  manualRoute?: string
  /** Time without progress after which the step is late, in milliseconds; `bounds.stepTimeout` if absent. */
  timeout?: (bounds: Bounds) => number
  next: Next | ((run: Run) => Next | Promise<Next>)
  /** Returns what to remember before the step is played. */
  prepare?(run: Run): Promise<Partial<Memo>>
  faults?(run: Run): { fault: FaultName; route: string; milliseconds: number }[]
  hintFault?: FaultName
  /** Plays the step. If the process dies midway, another process plays the step again. */
  play?(run: Run): Promise<void>
  check(run: Run): Promise<StepFindings>
  /** Returns the bookings that the product has yet to read. Absent if the step does not wait for bookings. */
  missing?(run: MissingBookingsContext): Promise<{ id: number }[]>
  /**
   * Returns the reason for failing all cases of a late step, or a result per case. Absent if the step is never late.
   */
  late?(run: Run): string | Promise<string | Results>
}

/** The part of a {@link Run} that is needed to find the missing bookings. */
export type MissingBookingsContext = Pick<Run, 'app' | 'sandboxId' | 'certification' | 'step'>

/** The certification's state, as passed to a step. */
export interface Run extends Stage {
  bounds: Bounds
  certification: Certification
  step: Step
  /** The current time on the database's clock, which all times in a run refer to. */
  now: Date
  /** Time by which all changes played by the step were visible; until then, the time at which the step began. */
  playedAt: Date
  /**
   * Requests answered since the step began, in order of arrival, excluding automatic retries by the product's runtime.
   */
  records: RequestRecord[]
  /** The step's timed faults in their current state. */
  faults: FaultRule[]
  /** Ordinal of the certification's last recorded request. */
  lastOrdinal: number
}

/** The findings of one check of a step. */
export interface StepFindings {
  results?: Results
  isDone?: boolean
  /** The new action that the product is asked to take; absent if the action stays the same. */
  next?: Next
  /** A number that grows as the product advances. A step that makes no progress for `timeout` is late. */
  progress?: number
  /** Facts that later steps need, stored once the step is done or late. */
  facts?: Facts
}

export type Results = Partial<Record<CaseName, Result>>

export interface Result {
  status: 'passed' | 'failed' | 'skipped'
  because?: string
  /** The requests that prove the result. */
  evidence?: RequestRecord[]
}

export const passed: Result = { status: 'passed' }
export const failed = (because: string, evidence: RequestRecord[] = []): Result => ({
  status: 'failed',
  because,
  evidence,
})
export const skipped = (because: string): Result => ({ status: 'skipped', because })
export const done = (results: Results, facts: Facts = {}): StepFindings => ({ isDone: true, results, facts })

/** The first action of every course. */
export const start: Next = {
  action: 'start',
  text: 'Start the product with an empty store, pointed at the sandbox with this key',
}

/** The action of a step in which the product only has to keep running. */
export const wait: Next = {
  action: 'wait',
  text: 'Leave the product running; the course continues by itself',
}

/** Draws a whole number from `minimum` to `maximum`. The same seed and name always give the same number. */
export function draw(seed: string, name: string, minimum: number, maximum: number): number {
  const drawn = createHash('sha256').update(`${seed}/${name}`).digest().readUInt32BE(0)
  return minimum + (drawn % (maximum - minimum + 1))
}

/**
 * Returns the certification's `next`, which must have the given action.
 *
 * @throws Error if `next` is null or has another action
 */
export function requireNextAction<A extends Next['action']>(
  { certification: { next } }: Run,
  action: A,
): Extract<Next, { action: A }> {
  const isAsked = (asked: Next | null): asked is Extract<Next, { action: A }> => asked?.action === action
  if (!isAsked(next)) throw new Error(`The step does not ask for "${action}"`)
  return next
}

/** A limit above the number of bookings that a sandbox can hold. */
const allBookings = 10_000

/** Returns the current state of all bookings changed after a version, or of all bookings if `after` is null. */
export function changesAfter({ app, sandboxId }: Pick<Stage, 'app' | 'sandboxId'>, after: Date | null) {
  return findChanges(app.db, { owner_id: sandboxId }, after, { skip: 0, limit: allBookings })
}

/** Returns the step's requests to a route. */
export function requestsTo({ records }: Pick<Run, 'records'>, operation: string): RequestRecord[] {
  return records.filter((record) => record.operation === operation)
}

/**
 * Returns the records without automatic retries by the product's runtime.
 *
 * @param milliseconds time within which a request identical to an earlier one counts as a retry
 */
export function withoutAutomaticRetries(records: RequestRecord[], milliseconds: number): RequestRecord[] {
  const last = new Map<string, number>()
  return records.filter((record) => {
    const { operation, body_hash, is_first, from, at } = record
    const name = [operation, body_hash, is_first, from?.getTime()].join('/')
    const before = last.get(name)
    const isRepetition = before !== undefined && at.getTime() - before < milliseconds
    // A retry that delivered new bookings still counts.
    if (isRepetition && record.delivered === 0) return false
    last.set(name, at.getTime())
    return true
  })
}

/** Returns true if the product cannot have received the handler's whole response. */
function isLost({ fault }: Pick<RequestRecord, 'fault'>): boolean {
  return fault !== null && fault !== 'slow'
}

/** Returns true if the response reached the product and was not an error. */
export function hasSucceeded(record: Pick<RequestRecord, 'fault' | 'status'>): boolean {
  return !isLost(record) && record.status < 300
}

/** Reading from a position this long before the certification's start counts as reading from the beginning. */
const beginningToleranceMilliseconds = 2 * 86_400_000

/** Returns true if a request read the feed's first page and started at the beginning of the feed. */
export function isFromBeginning({ is_page, is_first, from }: RequestRecord, startedAt: Date): boolean {
  const beginningCutoff = startedAt.getTime() - beginningToleranceMilliseconds
  return is_page && is_first && (from === null || from.getTime() < beginningCutoff)
}

/** Returns true if all of a step's faults have started and ended. */
export function areFaultsOver({ faults, now }: Pick<Run, 'faults' | 'now'>): boolean {
  return faults.every(({ until }) => until !== null && until <= now)
}

/** Returns true if the step was played, its faults are over, and a request that arrived after both has succeeded. */
export function hasRecovered(run: Run, records: RequestRecord[]): boolean {
  const since = Math.max(Number(run.playedAt), ...run.faults.map(({ until }) => Number(until)))
  return areFaultsOver(run) && records.some((record) => hasSucceeded(record) && Number(record.at) >= since)
}

/**
 * Grades how often the product got a fault after the first response with that fault. Requests already in flight at that
 * time are tolerated, and so is one further request for each of them.
 *
 * @param allowed number of further requests that are tolerated in any case
 */
export function gradeRequestsAfterFault(
  records: RequestRecord[],
  { fault, allowed, because }: { fault: string; allowed: number; because: (further: number) => string },
): Result {
  const [first, ...others] = records.filter((record) => record.fault === fault)
  const further = others.filter(({ at }) => first && at > first.answered_at)
  const inFlight = others.length - further.length
  return further.length <= inFlight + allowed ? passed : failed(because(further.length), further)
}

/** Returns the first request that was refused with 422 and whose response reached the product. */
export function firstRefused(records: RequestRecord[]): RequestRecord | undefined {
  return records.find((record) => record.status === 422 && !isLost(record))
}

/** Fails if a refused body was sent again unchanged. Returns null while the result is undecided. */
export function gradeRefusedResend(
  run: Pick<Run, 'now' | 'bounds'>,
  records: RequestRecord[],
  refused: RequestRecord | undefined,
  because: string,
): Result | null {
  const again = records.filter(
    ({ body_hash, at }) => refused && body_hash === refused.body_hash && at > refused.answered_at,
  )
  if (again.length > 0) return failed(because, again)
  return isFollowUpWindowOver(run, refused) ? passed : null
}

/**
 * Returns true if a request was answered more than `bounds.silence` ago, so any follow-up would have arrived, or if
 * there is no request.
 */
export function isFollowUpWindowOver(
  { now, bounds }: Pick<Run, 'now' | 'bounds'>,
  request: RequestRecord | undefined,
): boolean {
  return !request || Number(now) - Number(request.answered_at) > bounds.silence
}
