import type { Db } from '../../platform/mongo/connection.ts'
import { ignoreDuplicates } from '../../platform/mongo/errors.ts'
import { type KindCounts, type MinuteCounts, minuteMilliseconds } from './kinds.ts'
import { requestCountsModel } from './model.ts'

const hourMilliseconds = 60 * minuteMilliseconds
/** How far back a key sees its counts. */
export const countedMilliseconds = 24 * hourMilliseconds

/**
 * Adds what one journal counted for several keys: one write for each key and hour. The same batch again changes
 * nothing.
 *
 * @param journal names its documents, which nobody else writes to
 */
export async function addCounts(
  db: Db,
  journal: string,
  batch: number,
  counted: { key: { id: number; hostId: number }; counts: MinuteCounts }[],
): Promise<void> {
  const operations = counted.flatMap(({ key, counts }) => {
    const byHour = Map.groupBy(counts, ([minute]) => minute - (minute % hourMilliseconds))
    return [...byHour].map(([hour, minutes]) => ({
      updateOne: {
        filter: { _id: `${key.id}:${hour}:${journal}`, host_id: key.hostId, batch: { $ne: batch } },
        update: {
          $setOnInsert: {
            key_id: key.id,
            hour: new Date(hour),
            expires_at: new Date(hour + hourMilliseconds + countedMilliseconds),
          },
          $set: { batch },
          $inc: Object.fromEntries(minutes.flatMap(([minute, counts]) => increments(minute - hour, counts))),
        },
        upsert: true,
      },
    }))
  })
  if (operations.length === 0) return
  const { collection } = requestCountsModel(db)
  await ignoreDuplicates(() => collection.bulkWrite(operations as never, { ordered: false }))
}

function increments(sinceHour: number, counts: KindCounts): [string, number][] {
  return Object.entries(counts).map(([kind, number]) => [
    `minutes.${sinceHour / minuteMilliseconds}.${kind}`,
    number,
  ])
}

/** The counts of one key by minute, from the minute of a moment on. */
export async function findCounts(
  db: Db,
  owner: { host_id: number; key_id: number },
  since: Date,
): Promise<[minute: Date, counts: KindCounts][]> {
  const from = new Date(since.getTime() - (since.getTime() % hourMilliseconds))
  const documents = await requestCountsModel(db)
    .find({ ...owner, hour: { $gte: from } })
    .lean()
  return documents.flatMap(({ hour, minutes }) =>
    Object.entries(minutes).map(([minute, counts]): [Date, KindCounts] => [
      new Date(hour.getTime() + Number(minute) * minuteMilliseconds),
      counts,
    ]),
  )
}
