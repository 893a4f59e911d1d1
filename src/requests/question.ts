/** Which requests are looked for; what is left out does not limit. */
export interface RequestQuestion {
  host_id?: number
  key_id?: number
  /** Each a status, or all of a hundred as `4xx`. */
  statuses?: string[] | undefined
  request_id?: string | undefined
  since?: Date | undefined
  /** Only what comes after this one, from new to old. */
  after?: { at: Date; id: string } | undefined
}

/** The buckets that may have such a request. */
export function bucketFilter(question: RequestQuestion): object {
  const { host_id, key_id, statuses, request_id, since, after } = question
  const ranges = statuses?.map((status) => {
    const { first, last } = rangeOf(status)
    return { statuses: { $elemMatch: { $gte: first, $lte: last } } }
  })
  return {
    ...(host_id === undefined ? {} : { host_id }),
    ...(key_id === undefined ? {} : { key_id }),
    ...(request_id === undefined ? {} : { 'entries.request_id': request_id }),
    ...(since ? { to: { $gte: since } } : {}),
    ...(after ? { from: { $lte: after.at } } : {}),
    ...(ranges ? { $or: ranges } : {}),
  }
}

/** The condition for one entry of a bucket; what comes after a place is only narrowed down to its moment. */
export function entryFilter({ statuses, request_id, since, after }: RequestQuestion, weekAgo: Date): object {
  const ranges = statuses?.map((status) => {
    const { first, last } = rangeOf(status)
    return { $and: [{ $gte: ['$$entry.status', first] }, { $lte: ['$$entry.status', last] }] }
  })
  return {
    $and: [
      { $or: [{ $lt: ['$$entry.status', 400] }, { $gt: ['$$entry.at', weekAgo] }] },
      ...(ranges ? [{ $or: ranges }] : []),
      ...(request_id === undefined ? [] : [{ $eq: ['$$entry.request_id', { $literal: request_id }] }]),
      ...(since ? [{ $gte: ['$$entry.at', since] }] : []),
      ...(after ? [{ $lte: ['$$entry.at', after.at] }] : []),
    ],
  }
}

/** The statuses that `422` or `4xx` stands for. */
function rangeOf(status: string): { first: number; last: number } {
  const [first, last] = [Number(status.replace('xx', '00')), Number(status.replace('xx', '99'))]
  return { first, last }
}
