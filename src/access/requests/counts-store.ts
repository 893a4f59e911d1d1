import type { Db } from '../../platform/mongo/connection.ts'
import { ignoreDuplicates } from '../../platform/mongo/errors.ts'
import { addKinds, addToMinute, type KindCounts, type MinuteCounts, minuteMilliseconds } from './kinds.ts'
import { type RequestCounts, requestCountsModel } from './model.ts'

const hourMilliseconds = 60 * minuteMilliseconds
/** Period for which a key's counts are available. */
export const countedMilliseconds = 24 * hourMilliseconds

/**
 * Adds one journal's counts for several keys or addresses, with one write per hour and key or address. Adding the same
 * batch again changes nothing.
 *
 * @param journal the journal's name; it is part of the document ids so that no two processes write to the same document
 */
export async function addCounts(
  db: Db,
  journal: string,
  batch: number,
  counted: { key: { id: number; hostId: number; address?: string }; counts: MinuteCounts }[],
): Promise<void> {
  const operations = counted.flatMap(({ key, counts }) => {
    const byHour = Map.groupBy(counts, ([minute]) => minute - (minute % hourMilliseconds))
    return [...byHour].map(([hour, minutes]) => ({
      updateOne: {
        filter: {
          _id: `${key.address ?? key.id}:${hour}:${journal}`,
          host_id: key.hostId,
          batch: { $ne: batch },
        },
        update: {
          $setOnInsert: {
            key_id: key.id,
            ...(key.address === undefined ? {} : { address: key.address }),
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
  await ignoreDuplicates(() => collection.bulkWrite(operations, { ordered: false }))
}

function increments(sinceHour: number, counts: KindCounts): [string, number][] {
  return Object.entries(counts).map(([kind, number]) => [
    `minutes.${sinceHour / minuteMilliseconds}.${kind}`,
    number,
  ])
}

/** Returns one key's counts by minute and process, from the start of the hour that contains `since`. */
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

/**
 * Returns a key's counts by minute in ascending order, summed over all processes. The first minute is the one that
 * contains `since`, or the minute 24 hours before `now` if that is later.
 */
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

/** Counts over a period, either of a key's requests or of a client network's failed authentications. */
export type Total = Pick<RequestCounts, 'host_id' | 'key_id' | 'address'> & { counts: KindCounts }

/**
 * Returns the counts of each key and network from the minute that contains `since`, summed over all processes. Only
 * commands may call this function, because it reads the counts of all keys.
 */
export async function readTotals(db: Db, since: Date): Promise<Total[]> {
  const totals = new Map<string, Total>()
  const first = since.getTime() - (since.getTime() % minuteMilliseconds)
  const hour = { $gte: new Date(first - (first % hourMilliseconds)) }
  for await (const found of requestCountsModel(db).find({ hour }).lean().cursor()) {
    const { host_id, key_id, address = null } = found
    const name = address ?? String(key_id)
    const total = totals.get(name) ?? { host_id, key_id, address, counts: {} }
    totals.set(name, total)
    addMinutesFrom(first, found, total.counts)
  }
  return [...totals.values()]
}

/** Returns each key's counts from the minute that contains `since`, summed over all processes, by key id. */
export async function readTotalsOfKeys(
  db: Db,
  keys: { keyId: number; hostId: number }[],
  since: Date,
): Promise<Map<number, KindCounts>> {
  const first = since.getTime() - (since.getTime() % minuteMilliseconds)
  const hour = { $gte: new Date(first - (first % hourMilliseconds)) }
  const host_id = { $in: [...new Set(keys.map(({ hostId }) => hostId))] }
  const key_id = { $in: keys.map(({ keyId }) => keyId) }
  const found = await requestCountsModel(db).find({ host_id, key_id, hour }).lean()
  const totals = new Map<number, KindCounts>()
  for (const document of found) {
    const total = totals.get(document.key_id) ?? {}
    totals.set(document.key_id, total)
    addMinutesFrom(first, document, total)
  }
  return totals
}

/** Adds the counts of a document's minutes that are not before `first`, in milliseconds since 1970. */
function addMinutesFrom(first: number, { hour, minutes }: RequestCounts, total: KindCounts): void {
  for (const [minute, counts] of Object.entries(minutes))
    if (hour.getTime() + Number(minute) * minuteMilliseconds >= first) addKinds(total, counts)
}
