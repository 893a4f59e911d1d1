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
 * Returns what follows each of some positions, with one command however many positions there are, and a second one if
 * more than `limit` versions follow. The first command reads at most `limit` entries of the index, from the end, so a
 * reader that is up to date costs almost nothing.
 *
 * @param positions in milliseconds since 1970; 0 is the beginning
 */
export async function countFollowing(
  versions: Versions,
  positions: number[],
  limit: number,
): Promise<FollowingAll> {
  const { collection, field, ownerId } = versions
  const distinct = [...new Set(positions)]
  const start = new Date(Math.min(...distinct))
  const [window] = await collection
    .aggregate<WindowRow>([
      { $match: { owner_id: ownerId, [field]: { $gt: start } } },
      { $sort: { [field]: -1 } },
      { $limit: limit },
      {
        $group: {
          _id: null,
          newest: { $max: `$${field}` },
          oldest: { $min: `$${field}` },
          ...perPosition(distinct, field, 'count'),
          ...perPosition(distinct, field, 'oldest'),
        },
      },
    ])
    .toArray()
  const byPosition = new Map<number, Following>()
  for (const [index, position] of distinct.entries()) {
    const count = (window?.[`count_${index}`] as number | undefined) ?? 0
    const oldest = (window?.[`oldest_${index}`] as Date | undefined) ?? null
    byPosition.set(position, { count, oldest })
  }
  const beyond = distinct.filter((position) => byPosition.get(position)?.count === limit)
  if (window && beyond.length > 0) {
    const oldest = await findOldest(versions, beyond, window.oldest)
    for (const [position, moment] of oldest) byPosition.set(position, { count: limit, oldest: moment })
  }
  return { newest: window?.newest ?? null, byPosition }
}

type WindowRow = { newest: Date; oldest: Date } & Record<string, number | Date | null>

/** Returns the earliest version after each position, none of which is later than `until`. */
async function findOldest(
  { collection, field, ownerId }: Versions,
  positions: number[],
  until: Date,
): Promise<Map<number, Date>> {
  const start = new Date(Math.min(...positions))
  const [found] = await collection
    .aggregate<Record<string, Date | null>>([
      { $match: { owner_id: ownerId, [field]: { $gt: start, $lte: until } } },
      { $sort: { [field]: 1 } },
      // The first version follows the only position. With several, each has a first version of its own.
      ...(positions.length === 1 ? [{ $limit: 1 }] : []),
      { $group: { _id: null, ...perPosition(positions, field, 'oldest') } },
    ])
    .toArray()
  return new Map(positions.map((position, index) => [position, found?.[`oldest_${index}`] ?? until]))
}

/** Returns one accumulator for each position, over the versions that follow it. */
function perPosition(positions: number[], field: string, kind: 'count' | 'oldest'): Record<string, object> {
  const accumulators: Record<string, object> = {}
  for (const [index, position] of positions.entries()) {
    const follows = { $gt: [`$${field}`, new Date(position)] }
    accumulators[`${kind}_${index}`] =
      kind === 'count'
        ? { $sum: { $cond: [follows, 1, 0] } }
        : { $min: { $cond: [follows, `$${field}`, null] } }
  }
  return accumulators
}
