import type { Fault, FaultName } from '../http/fault-rule.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { type CourseFault, type Sandbox, sandboxModel } from './model.ts'

/** Stores a certification's course in its sandbox. */
export async function setCourse(db: Db, scope: number, certificationId: number): Promise<void> {
  const course = { certification_id: certificationId, faults: [], hint: null }
  await sandboxModel(db).updateOne({ _id: scope, state: 'open' }, { $set: { course } })
}

/** Removes a certification's course from its sandbox, even if the certification has not stored the scope yet. */
export async function removeCourse(db: Db, { _id, key_id }: { _id: number; key_id: number }): Promise<void> {
  await sandboxModel(db).updateOne(
    { key_id, state: 'open', 'course.certification_id': _id },
    { $set: { course: null } },
  )
}

/** Replaces a certification's faults: a sequence of faults for requests, and one fault for hints. */
export async function setCourseFaults(
  db: Db,
  scope: number,
  faults: CourseFault[],
  hint: FaultName | null,
): Promise<void> {
  const change = { 'course.faults': faults, 'course.hint': hint }
  await sandboxModel(db).updateOne({ _id: scope, state: 'open', course: { $ne: null } }, { $set: change })
}

/** Returns a sandbox's course with its faults, or null if the sandbox is gone or no certification runs in it. */
export async function findCourse(db: Db, scope: number): Promise<Sandbox['course']> {
  const found = await sandboxModel(db).findOne({ _id: scope, state: 'open' }, { course: 1 }).lean()
  return found?.course ?? null
}

/**
 * Returns the certification fault that a request meets, which is the first fault of its route that has not ended, or
 * null. The first request to meet a fault, in any process, determines when the fault ends.
 *
 * @param now current time by the database's clock
 */
export async function takeCourseFault(
  db: Db,
  { _id, course }: Pick<Sandbox, '_id' | 'course'>,
  route: string,
  now: Date,
): Promise<Fault | null> {
  const due = course?.faults.find(
    (fault) => fault.route === route && (fault.until === null || fault.until > now),
  )
  if (!due) return null
  const until = due.until ?? (await beginFault(db, _id, due, now))
  const retry_after_seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
  return { fault: due.fault, retry_after_seconds, delay_milliseconds: 0 }
}

async function beginFault(
  db: Db,
  scope: number,
  { id, milliseconds }: CourseFault,
  now: Date,
): Promise<Date> {
  const until = new Date(now.getTime() + milliseconds)
  await sandboxModel(db).updateOne(
    { _id: scope, 'course.faults': { $elemMatch: { id, until: null } } },
    { $set: { 'course.faults.$.until': until } },
  )
  return until
}

/** Returns the fault that a certification plays for hints, or null. */
export async function hintFaultOf(db: Db, scope: number): Promise<Fault | null> {
  const hint = (await findCourse(db, scope))?.hint as FaultName | null | undefined
  return hint ? { fault: hint, retry_after_seconds: 1, delay_milliseconds: 0, isSecret: true } : null
}
