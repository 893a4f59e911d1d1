import { unansweredStatus } from './kinds.ts'

/** Which requests are looked for; what is left out does not limit. */
export interface RequestQuestion {
  host_id?: number
  key_id?: number
  /** Each a status, all of a hundred as `4xx`, or `unanswered`. */
  statuses?: string[] | undefined
  request_id?: string | undefined
  since?: Date | undefined
  /** Only what comes after the entry with this id, from new to old. */
  after?: string | undefined
}

/**
 * The database's filter for a question. Failures and the others are two ranges of one index.
 *
 * @param weekAgo failures are over from then on
 */
export function requestFilter(question: RequestQuestion, weekAgo: Date) {
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

/** The statuses that `422`, `4xx` or `unanswered` stands for. */
function rangeOf(status: string): { $gte: number; $lte: number } {
  if (status === 'unanswered') return { $gte: unansweredStatus, $lte: unansweredStatus }
  return { $gte: Number(status.replace('xx', '00')), $lte: Number(status.replace('xx', '99')) }
}

/** No id of a request that arrived at this moment is lower: ids are UUIDs of version 7, which begin with the time. */
function lowestId(at: Date): string {
  const milliseconds = at.getTime().toString(16).padStart(12, '0')
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}`
}
