import { DomainError, invalidFields, type Problem } from '../../core/errors.ts'
import { parseFeedTime, toVersion } from '../../host-clock/format.ts'
import type { Position } from '../../host-clock/store.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import type { AvailabilityRow } from './overlay.ts'
import type { AvailabilityItem } from './schema.ts'
import { extentOf, findRowsCovering, type RoomTypeCount } from './store.ts'

/**
 * How far a count is informed (decisions §8). A push is computed from the bookings that the partner knew, and arrives
 * later. Without `as_of`, a booking made in between counts as known, and its night is sold again.
 */

/** Returns the booking version up to which an item's count is informed; null if the item does not say. */
export function asOf({ as_of }: AvailabilityItem): Date | null {
  return as_of ? parseFeedTime(as_of) : null
}

/** Returns the latest `as_of` of the items of each room type. Room types without one are absent. */
export function latestAsOf(items: AvailabilityItem[]): Map<number, Date> {
  const latest = new Map<number, Date>()
  for (const item of items) {
    const informed = asOf(item)
    const before = latest.get(item.room_type_id)
    if (informed && !(before && before >= informed)) latest.set(item.room_type_id, informed)
  }
  return latest
}

/**
 * Rejects items that claim to know bookings that do not exist, which happens if the version comes from another
 * environment. After a restore, partners may still know the versions that were lost.
 *
 * @throws DomainError `validation` at each such `as_of`
 */
export function requireNotAhead(
  items: AvailabilityItem[],
  { newestVersion, lastVersion }: Pick<Position, 'newestVersion' | 'lastVersion'>,
): void {
  const problems: Problem[] = []
  for (const [index, item] of items.entries()) {
    const informed = asOf(item)
    if (informed === null || (newestVersion !== null && informed <= lastVersion)) continue
    const path = `data.${index}.as_of`
    const message =
      newestVersion === null
        ? `"${path}" must be absent or null, because there are no bookings yet`
        : `"${path}" must be at most ${toVersion(lastVersion)}, the newest version of the booking feed`
    problems.push({ path, code: 'invalid', message })
    if (problems.length === reportedItems) break
  }
  if (problems.length > 0) throw invalidFields(problems)
}

/** Number of items that an error names (decisions §8). */
const reportedItems = 20

/** Number of items whose nights are read together. */
const itemsPerQuery = 100

/**
 * Rejects items that would replace a count which is informed up to a later version. Rows are read only if an item is
 * older than an earlier item of its room type.
 *
 * @param grown the counts of the items' room types
 * @throws DomainError `conflict` at each such `as_of`
 */
export async function requireNotOlder(
  db: Db,
  session: Session,
  ownerId: number,
  { items, grown }: { items: AvailabilityItem[]; grown: RoomTypeCount[] },
): Promise<void> {
  const late = lateItems(items, grown)
  const problems: Problem[] = []
  for (let start = 0; start < late.length && problems.length < reportedItems; start += itemsPerQuery) {
    const queried = late.slice(start, start + itemsPerQuery)
    const rows = await findRowsCovering(db, session, ownerId, nightsOf(queried))
    for (const { item, index, informed } of queried) {
      const newer = newestOf(rows.get(item.room_type_id) ?? [], item)
      if (newer === null || newer <= informed) continue
      const path = `data.${index}.as_of`
      const message = `"${path}" must be at least ${toVersion(newer)}, up to which the stored count of these nights is informed`
      problems.push({ path, code: 'conflict', message })
    }
  }
  if (problems.length === 0) return
  const message = 'A newer count is stored; read the booking feed to its end and compute the counts again'
  throw new DomainError('conflict', message, problems.slice(0, reportedItems))
}

/** An item that is older than a count that was once written to its room type. */
interface LateItem {
  item: AvailabilityItem
  index: number
  informed: Date
}

function lateItems(items: AvailabilityItem[], grown: RoomTypeCount[]): LateItem[] {
  const newest = new Map(grown.map(({ written }) => [written.room_type_id, written.newest_as_of]))
  const late: LateItem[] = []
  for (const [index, item] of items.entries()) {
    const informed = asOf(item)
    const before = newest.get(item.room_type_id) ?? null
    if (informed !== null && before !== null && informed < before) late.push({ item, index, informed })
  }
  return late
}

function nightsOf(late: LateItem[]) {
  const byRoomType = Map.groupBy(late, ({ item }) => item.room_type_id)
  return [...byRoomType].map(([id, ofRoomType]) => ({
    roomTypeIds: [id],
    days: extentOf(ofRoomType.map(({ item }) => item)),
  }))
}

/** Returns the latest `as_of` of the rows on an item's nights. */
function newestOf(
  rows: AvailabilityRow[],
  { start_date, end_date }: Pick<AvailabilityItem, 'start_date' | 'end_date'>,
): Date | null {
  let newest: Date | null = null
  for (const row of rows) {
    if (row.end_date < start_date || row.start_date > end_date || row.as_of === null) continue
    if (newest === null || row.as_of > newest) newest = row.as_of
  }
  return newest
}
