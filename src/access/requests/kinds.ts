/** Status recorded for a request that a sandbox fault left without a response (decisions §22). */
export const unansweredStatus = 0

/** Kinds of responses that are counted separately. The status determines the kind, and 429 has its own kind. */
export type ResponseKind = 'succeeded' | 'refused' | 'limited' | 'failed' | 'unanswered'

/** Returns the kind of a response with this status. */
export function kindOf(status: number): ResponseKind {
  if (status === unansweredStatus) return 'unanswered'
  if (status < 400) return 'succeeded'
  if (status === 429) return 'limited'
  return status < 500 ? 'refused' : 'failed'
}

/** Numbers of requests by kind. */
export type KindCounts = Partial<Record<ResponseKind, number>>

/** One key's or network's counts, by the start of the minute in milliseconds since 1970. */
export type MinuteCounts = Map<number, KindCounts>

export const minuteMilliseconds = 60_000

/** Adds counts to the minute that contains `at`. */
export function addToMinute(counts: MinuteCounts, at: number, added: KindCounts): void {
  const minute = at - (at % minuteMilliseconds)
  const known = counts.get(minute) ?? {}
  counts.set(minute, known)
  addKinds(known, added)
}

/** Adds the counts in `added` to `known`, by kind. */
export function addKinds(known: KindCounts, added: KindCounts): void {
  for (const [kind, number] of Object.entries(added) as [ResponseKind, number][])
    known[kind] = (known[kind] ?? 0) + number
}
