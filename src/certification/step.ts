import { createHash } from 'node:crypto'
import type { AppContext } from '../http/context.ts'
import type { FaultName } from '../http/fault-rule.ts'
import type { CourseFault } from '../sandbox/model.ts'
import type { Bounds } from './bounds.ts'
import type { CaseName, Profile } from './cases.ts'
import type { Certification, Memo, RequestRecord } from './model.ts'
import type { Next } from './next.ts'

/** A certification as a step sees it. */
export interface Run {
  /** The sandbox's context. */
  app: AppContext
  bounds: Bounds
  /** The sandbox: takes the place of a host id. */
  hostId: number
  keyId: number
  certification: Certification
  /** What this step has stored. */
  memo: Memo
  /** By the database's clock, as all times here. */
  now: Date
  beganAt: Date
  /** When everything that the step plays was visible. */
  playedAt: Date
  /** What was answered since the step began, in the order in which it came; repetitions of the runtime are left out. */
  records: RequestRecord[]
  /** The faults of the step, as they stand. */
  faults: CourseFault[]
  /** The last of them, counted from the first of the certification. */
  seen: number
  /** What came after so many requests of the certification. */
  recordsAfter(count: number): Promise<RequestRecord[]>
}

export interface Result {
  status: 'passed' | 'failed' | 'skipped'
  because?: string
  /** The requests that tell. */
  seen?: RequestRecord[]
}

export type Late = string | Partial<Record<CaseName, Result>>

/** What a step finds when it looks. */
export interface Look {
  results?: Partial<Record<CaseName, Result>>
  isDone?: boolean
  /** What was found counts only when it is found again: the step is played once more, if it has not been. */
  isDoubtful?: boolean
  /** What the product is asked to do from now on; absent: as before. */
  next?: Next
  /** Grows as the product comes further: without progress for five minutes a step is late. */
  progress?: number
  /** What later steps need to know. */
  facts?: Memo
}

/** A step of a course: it plays something, and looks at what the product does. */
export interface CourseStep {
  name: string
  profile: Profile
  /** The cases that are decided here. */
  cases: CaseName[]
  /**
   * A person does it: time counts only from the first request to one of these routes. Without any, it takes as long as it
   * takes.
   */
  byHand?: string[]
  /** It takes as long as it takes, beyond the five minutes; in milliseconds. */
  serve?: (bounds: Bounds) => number
  next: Next | ((run: Run) => Next)
  /** Read before anything is played, and stored. */
  prepare?(run: Run): Promise<Memo>
  faults?(run: Run): { fault: FaultName; route: string; milliseconds: number }[]
  hintFault?: FaultName
  /** Plays; a process that dies on the way leaves it to another, which plays it once more. */
  play?(run: Run): Promise<void>
  look(run: Run): Promise<Look>
  /** Why its cases failed when nothing more came of it; or what became of each. */
  late(run: Run): Late | Promise<Late>
}

/** A whole number from `minimum` to `maximum` that a seed and a name decide: the same course for the same seed. */
export function draw(seed: string, name: string, minimum: number, maximum: number): number {
  const drawn = createHash('sha256').update(`${seed}/${name}`).digest().readUInt32BE(0)
  return minimum + (drawn % (maximum - minimum + 1))
}
