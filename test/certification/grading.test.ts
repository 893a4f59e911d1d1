import { describe, test } from 'vitest'
import { bounds } from '../../src/certification/course/cases.ts'
import {
  firstRefused,
  gradeRefusedResend,
  withoutAutomaticRetries,
} from '../../src/certification/course/grading.ts'
import type { CourseStep } from '../../src/certification/course/step.ts'
import { isLate } from '../../src/certification/engine.ts'
import type { StartedCertification } from '../../src/certification/model.ts'
import type { RequestRecord } from '../../src/certification/record/model.ts'

/** Returns records of requests with the same body, sent at the given times. */
const recordsAt = (...milliseconds: number[]) =>
  milliseconds.map(
    (at) =>
      ({
        operation: 'POST /sandbox/bookings',
        body_hash: 'same',
        status: 422,
        fault: null,
        delivered: 0,
        at: new Date(at),
        answered_at: new Date(at + 10),
      }) as RequestRecord,
  )

test('a refused body fails the product when it is sent again, unless its refusal was lost', ({ expect }) => {
  const graded = (now: number, records: RequestRecord[]) =>
    gradeRefusedResend({ now: new Date(now), bounds }, records, firstRefused(records), 'again')?.status
  const soon = bounds.silence
  expect(graded(soon, [])).toBe('passed')
  expect(graded(soon, recordsAt(0))).toBeUndefined()
  expect(graded(3 * soon, recordsAt(0))).toBe('passed')
  expect(graded(soon, recordsAt(0, 1000))).toBe('failed')
  const [lost, received] = recordsAt(0, 1000) as [RequestRecord, RequestRecord]
  expect(graded(3 * soon, [{ ...lost, fault: 'broken' }, received])).toBe('passed')
})

test("a product's runtime may repeat a request once within its time limit, but not again", ({ expect }) => {
  expect(withoutAutomaticRetries(recordsAt(0, 50), bounds.runtime)).toHaveLength(1)
  expect(withoutAutomaticRetries(recordsAt(0, 50, 100, 150, 200), bounds.runtime)).toHaveLength(3)
})

describe('a step', () => {
  const limit = bounds.stepTimeout
  const late = () => 'late'
  const route = 'POST /sandbox/bookings'
  const rows: {
    title: string
    courseStep: Pick<CourseStep, 'late' | 'manualRoute' | 'timeout'>
    progress?: number
    isDone?: true
    now: number
    records?: RequestRecord[]
    isLate: boolean
  }[] = [
    {
      title: 'is late once it has made no progress for too long',
      courseStep: { late },
      now: limit + 1,
      isLate: true,
    },
    { title: 'is not late before', courseStep: { late }, now: limit, isLate: false },
    {
      title: 'is not late if it has just made progress',
      courseStep: { late },
      progress: 3,
      now: limit + 1,
      isLate: false,
    },
    {
      title: 'is late with the progress of before',
      courseStep: { late },
      progress: 2,
      now: limit + 1,
      isLate: true,
    },
    { title: 'is not late if it is done', courseStep: { late }, isDone: true, now: limit + 1, isLate: false },
    { title: 'that waits for a person is never late', courseStep: {}, now: 100 * limit, isLate: false },
    {
      title: 'may have a time limit of its own',
      courseStep: { late, timeout: () => 10 },
      now: 11,
      isLate: true,
    },
    {
      title: 'carried out by a person is not late before the first request',
      courseStep: { late, manualRoute: route },
      now: 100 * limit,
      isLate: false,
    },
    {
      title: 'carried out by a person is not late soon after the first request',
      courseStep: { late, manualRoute: route },
      now: 2 * limit,
      records: recordsAt(limit),
      isLate: false,
    },
    {
      title: 'carried out by a person is late long after the first request',
      courseStep: { late, manualRoute: route },
      now: 2 * limit + 1,
      records: recordsAt(limit),
      isLate: true,
    },
  ]

  test.for(rows)(
    '$title',
    ({ courseStep, progress, isDone, now, records = [], isLate: expected }, { expect }) => {
      const certification = { step: { progress: 2, progress_at: new Date(0) } } as StartedCertification
      const findings = { ...(isDone ? { isDone } : {}), ...(progress === undefined ? {} : { progress }) }
      const run = { bounds, now: new Date(now), records, certification }
      expect(isLate(courseStep, findings, run)).toBe(expected)
    },
  )
})
