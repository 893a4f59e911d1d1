import { createHash } from 'node:crypto'
import type { FaultName } from '../http/fault-rule.ts'
import type { SandboxContext } from '../sandbox/context.ts'
import type { CourseFault } from '../sandbox/model.ts'
import type { Bounds } from './bounds.ts'
import type { CaseName, Profile } from './cases.ts'
import type { Certification, Memo, RequestRecord } from './model.ts'
import type { Next } from './next.ts'

/** The certification's state as a step sees it. */
export interface Run {
  /** The sandbox's context. */
  app: SandboxContext
  bounds: Bounds
  /** The sandbox's scope, which takes the place of a host id. */
  hostId: number
  keyId: number
  certification: Certification
  /** Values that this step has stored. */
  memo: Memo
  /** The current time by the database's clock, like all times here. */
  now: Date
  beganAt: Date
  /** Time at which all changes played by the step had become visible. */
  playedAt: Date
  /** Requests answered since the step began, in order of arrival, excluding the runtime's own retries. */
  records: RequestRecord[]
  /** The step's faults in their current state. */
  faults: CourseFault[]
  /** Ordinal of the certification's last recorded request. */
  seen: number
  /** Returns the certification's requests after the first `count` ones. */
  recordsAfter(count: number): Promise<RequestRecord[]>
}

export interface Result {
  status: 'passed' | 'failed' | 'skipped'
  because?: string
  /** The requests that prove the result. */
  seen?: RequestRecord[]
}

export type Late = string | Partial<Record<CaseName, Result>>

/** The findings of one look at a step. */
export interface Look {
  results?: Partial<Record<CaseName, Result>>
  isDone?: boolean
  /** True if the results count only after a second attempt, unless this is already the second. */
  isDoubtful?: boolean
  /** The new action that the product is asked for; absent if it stays the same. */
  next?: Next
  /** Grows as the product advances. A step without progress for five minutes, or for `serve` if present, is late. */
  progress?: number
  /** Facts that later steps need. */
  facts?: Memo
}

/** A step of a course. It plays something and examines what the product does. */
export interface CourseStep {
  name: string
  profile: Profile
  /** The cases that this step decides. */
  cases: CaseName[]
  /**
   * Present if a person carries out the step. Time then counts only from the first request to one of these routes. If
   * the list is empty, the step is never late.
   */
  byHand?: string[]
  /** Time without progress after which the step is late, in milliseconds, instead of the usual five minutes. */
  serve?: (bounds: Bounds) => number
  next: Next | ((run: Run) => Next)
  /** Returns the step's initial memo, which is stored before anything is played. */
  prepare?(run: Run): Promise<Memo>
  faults?(run: Run): { fault: FaultName; route: string; milliseconds: number }[]
  hintFault?: FaultName
  /** Plays the step. If the process dies midway, another one plays the step again. */
  play?(run: Run): Promise<void>
  look(run: Run): Promise<Look>
  /** Returns why all cases of a late step failed, or a result for each case. */
  late(run: Run): Late | Promise<Late>
}

/** Draws a whole number from `minimum` to `maximum`. Seed and name determine it, so a seed fixes the entire course. */
export function draw(seed: string, name: string, minimum: number, maximum: number): number {
  const drawn = createHash('sha256').update(`${seed}/${name}`).digest().readUInt32BE(0)
  return minimum + (drawn % (maximum - minimum + 1))
}
