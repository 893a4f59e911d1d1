import type { AppContext } from '../http/context.ts'
import { removeCourse } from '../sandbox/course-store.ts'
import type { Case, Certification } from './model.ts'
import { deleteRecords } from './records-store.ts'
import { closeCertification, trimCertifications } from './store.ts'

/** Delay after the end of a certification before the records of late requests are swept. */
const sweepMilliseconds = 60_000

type Context = Pick<AppContext, 'db' | 'clockWatch'>

/**
 * Ends a certification. Nothing more is recorded or played, and only the run's grades are kept.
 *
 * @param because reason given for skipping undecided cases
 * @returns the ended certification, or null if it had already ended
 */
export async function endCertification(
  { db, clockWatch }: Context,
  certification: Certification,
  status: 'passed' | 'failed' | 'expired',
  because: string,
): Promise<Certification | null> {
  const now = clockWatch.databaseNow()
  const { _id, key_id } = certification
  await removeCourse(db, certification)
  const cases = certification.cases.map(
    (one): Case => (one.status === 'waiting' ? { ...one, status: 'skipped', because } : one),
  )
  const ended = await closeCertification(db, _id, {
    ...{ status, cases, ended_at: now, next: null, step: null, secret: null, facts: {} },
    sweep_at: new Date(now.getTime() + sweepMilliseconds),
  })
  if (!ended) return null
  await deleteRecords(db, _id)
  await trimCertifications(db, key_id)
  return ended
}
