import { unansweredStatus } from './kinds.ts'

/** Criteria for requests. An absent field matches every request. */
export interface RequestCriteria {
  host_id?: number
  key_id?: number
  /** Statuses to match: numbers such as `422`, classes such as `4xx`, or `unanswered`. */
  statuses?: string[] | undefined
  request_id?: string | undefined
  since?: Date | undefined
  /** Only requests older than the entry with this id. */
  after?: string | undefined
}

/**
 * Returns the database filter for the given criteria. Failures and all other requests are separate ranges of the same
 * index.
 *
 * @param weekAgo start of the failures' retention period; earlier failures do not match
 */
export function requestFilter(question: RequestCriteria, weekAgo: Date) {
  const { statuses, request_id, since, after, ...owner } = question
  const ranges = statuses?.map((status) => ({ status: rangeOf(status) }))
  const common = {
    ...owner,
    ...(request_id === undefined ? {} : { request_id }),
    ...(ranges ? { $or: ranges } : {}),
  }
  const before = after === undefined ? {} : { $lt: after }
  const from = lowestId(since ?? new Date(0))
  const fromWeekAgo = lowestId(since && since > weekAgo ? since : weekAgo)
  return {
    $or: [
      { ...common, failed: false, _id: { ...before, $gte: from } },
      { ...common, failed: true, _id: { ...before, $gte: fromWeekAgo } },
    ],
  }
}

/** Returns the range of statuses that `422`, `4xx` or `unanswered` stands for. */
function rangeOf(status: string): { $gte: number; $lte: number } {
  if (status === 'unanswered') return { $gte: unansweredStatus, $lte: unansweredStatus }
  return { $gte: Number(status.replace('xx', '00')), $lte: Number(status.replace('xx', '99')) }
}

/** Returns a lower bound for the ids of requests that arrived at `at` or later. Ids start with the arrival time. */
export function lowestId(at: Date): string {
  const milliseconds = at.getTime().toString(16).padStart(12, '0')
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}`
}
