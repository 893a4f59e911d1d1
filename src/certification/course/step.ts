import type { AppContext } from '../../http/context.ts'
import type { FaultName, FaultRule } from '../../sandbox/faults/rule.ts'
import type { Facts, Memo, Next, StartedCertification } from '../model.ts'
import type { RequestRecord } from '../record/model.ts'
import type { Bounds, CaseName } from './cases.ts'

/**
 * A step of a course: what the sandbox does, what is asked of the product, and how the product's reaction is graded.
 * The engine uses the members in this order, except for `missing`, which the certification's routes show.
 */
export interface CourseStep {
  name: string
  /** The cases that this step decides. */
  cases: CaseName[]
  /** Returns what to remember before the step is played. */
  prepare?(run: Run): Promise<Partial<Memo>>
  /** Returns the faults that are injected into the product's requests. */
  faults?(run: Run): TimedFault[]
  /** The fault that is injected into each hint's first attempt. */
  hintFault?: FaultName
  /** Plays the step. If the process dies midway, another process plays the step again. */
  play?(run: Run): Promise<void>
  /** The action that the product or its operator is asked to take once the step has been played. */
  next: Next | ((run: Run) => Next | Promise<Next>)
  /** Examines what the product has done since the step began. */
  check(run: PlayedRun): Promise<StepFindings>
  /**
   * Route that the step's requests go to. Present only if a person carries out the step. Such a step cannot be late
   * until its first request has arrived.
   */
  manualRoute?: string
  /** Time without progress after which the step is late, in milliseconds; `bounds.stepTimeout` if absent. */
  timeout?(bounds: Bounds): number
  /**
   * Returns the reason for failing all cases of a late step, or a result per case. Absent if the step is never late.
   */
  late?(run: PlayedRun): string | Promise<string | Results>
  /** Returns the bookings that the product has yet to read. Absent if the step does not wait for bookings. */
  missing?(run: Pick<Run, 'app' | 'certification'>): Promise<{ id: number }[]>
}

/** A fault that lasts for a time, starting at the first request to its route. */
export interface TimedFault {
  fault: FaultName
  route: string
  milliseconds: number
}

/** A certification at its current step. */
export interface Run {
  /** The sandbox's context. */
  app: AppContext
  bounds: Bounds
  certification: StartedCertification
  /** The current time on the database's clock, which all times in a run refer to. */
  now: Date
}

/** A certification whose current step has been played, with what has been seen since the step began. */
export interface PlayedRun extends Run {
  /**
   * Requests answered since the step began, in order of arrival, without the runtime's automatic retries.
   * `record/recording.ts` writes them while the requests are served.
   */
  records: RequestRecord[]
  /** Ordinal of the certification's last recorded request, including automatic retries. */
  lastOrdinal: number
  /** The step's timed faults in their current state. */
  faults: FaultRule[]
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

/** The first action of every course. */
export const askToStart: Next = {
  action: 'start',
  text: 'Start the product with an empty store, pointed at the sandbox with this key',
}

/** The action of a step in which the product only has to keep running. */
export const askToWait: Next = {
  action: 'wait',
  text: 'Leave the product running; the course continues by itself',
}

/**
 * Returns the certification's `next`, which must have the given action.
 *
 * @throws Error if `next` is null or has another action
 */
export function requireNextAction<A extends Next['action']>(
  { certification: { next } }: Pick<Run, 'certification'>,
  action: A,
): Extract<Next, { action: A }> {
  const isAsked = (asked: Next | null): asked is Extract<Next, { action: A }> => asked?.action === action
  if (!isAsked(next)) throw new Error(`The step does not ask for "${action}"`)
  return next
}
