import type { Db } from '../../platform/mongo/connection.ts'
import { countedMilliseconds, findCounts } from './counts-store.ts'
import { addToMinute, type KindCounts, type MinuteCounts, minuteMilliseconds } from './kinds.ts'

/** The counts of a key over all processes, by minute, from the minute of `since` or from a day ago. */
export async function readCounts(
  db: Db,
  owner: { host_id: number; key_id: number },
  since: Date | undefined,
  now: Date,
): Promise<[minute: Date, counts: KindCounts][]> {
  const earliest = Math.max(since?.getTime() ?? 0, now.getTime() - countedMilliseconds)
  const first = new Date(earliest - (earliest % minuteMilliseconds))
  const sums: MinuteCounts = new Map()
  for (const [minute, counts] of await findCounts(db, owner, first))
    if (minute >= first) addToMinute(sums, minute.getTime(), counts)
  return [...sums].sort(([one], [other]) => one - other).map(([minute, counts]) => [new Date(minute), counts])
}
