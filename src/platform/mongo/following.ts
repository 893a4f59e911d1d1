import type { Collection } from 'mongoose'

/** What follows a position among an owner's versions. */
export interface Following {
  /** Number of later versions, up to the limit. */
  count: number
  /** The earliest of them; null if there is none. */
  oldest: Date | null
}

/** The versions of one owner's documents. */
export interface Versions {
  collection: Collection
  /** The field with the version. The collection has an index on the owner and this field. */
  field: string
  ownerId: number
}

/** The versions that follow some positions, and the newest of them; null if none follows the earliest position. */
export interface FollowingAll {
  newest: Date | null
  /** By position, in milliseconds since 1970. */
  byPosition: Map<number, Following>
}

/**
 * Returns what follows each of some positions, with one command however many positions there are and however much follows.
 * It reads at most `limit` entries of the index, from the end, and one more for each position, so a reader that is up to
 * date costs almost nothing.
 *
 * @param positions in milliseconds since 1970; 0 is the beginning
 */
export async function countFollowing(
  { collection, field, ownerId }: Versions,
  positions: number[],
  limit: number,
): Promise<FollowingAll> {
  const distinct = [...new Set(positions)]
  const after = (position: number) => ({
    $match: { owner_id: ownerId, [field]: { $gt: new Date(position) } },
  })
  const counts: Record<string, object> = {}
  const firsts: object[] = []
  for (const [index, position] of distinct.entries()) {
    const follows = { $gt: [`$${field}`, new Date(position)] }
    counts[`count_${index}`] = { $sum: { $cond: [follows, 1, 0] } }
    // The entries that are counted need not include the first one.
    const pipeline = [
      after(position),
      { $sort: { [field]: 1 } },
      { $limit: 1 },
      { $project: { _id: 0, version: `$${field}` } },
    ]
    firsts.push({ $lookup: { from: collection.name, pipeline, as: `first_${index}` } })
  }
  const [found] = await collection
    .aggregate<FoundRow>([
      after(Math.min(...distinct)),
      { $sort: { [field]: -1 } },
      { $limit: limit },
      { $group: { _id: null, newest: { $max: `$${field}` }, ...counts } },
      ...firsts,
    ])
    .toArray()
  const byPosition = new Map<number, Following>()
  for (const [index, position] of distinct.entries()) {
    const count = found?.[`count_${index}`] ?? 0
    const [first] = found?.[`first_${index}`] ?? []
    byPosition.set(position, { count, oldest: count > 0 && first ? first.version : null })
  }
  return { newest: found?.newest ?? null, byPosition }
}

type FoundRow = { newest: Date } & Record<`count_${number}`, number> &
  Record<`first_${number}`, { version: Date }[]>
