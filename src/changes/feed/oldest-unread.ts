import { findSuspendedHostIds } from '../../access/hosts/store.ts'
import { findReadPositions } from '../../access/keys/activity-store.ts'
import { findClocks } from '../../host-clock/change-store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { bookingFeed, oldestAfter } from '../feeds.ts'

/**
 * Returns the age in seconds of the oldest booking change that no key of its host has read; 0 if there is none
 * (decisions §28). A host is included if one of its keys has read the feed, one of its keys may still read it, and the
 * host is not suspended.
 */
export async function oldestUnreadSeconds(db: Db, now: Date): Promise<number> {
  const positions = await findReadPositions(db, now)
  const clocks = await findClocks(
    db,
    positions.map(({ host_id }) => host_id),
  )
  const lastOf = new Map(clocks.map(({ _id, last }) => [_id, last * 1000]))
  const behind = positions.filter(({ host_id, read }) => (lastOf.get(host_id) ?? 0) > read.getTime())
  const hosts = behind.map(({ host_id }) => host_id)
  const suspended = new Set(await findSuspendedHostIds(db, hosts))
  let oldest = now.getTime()
  for (const { host_id, read } of behind) {
    // Hosts are sorted by read position, so no remaining host can have an older unread change.
    if (read.getTime() >= oldest) break
    if (suspended.has(host_id)) continue
    const unread = await oldestAfter(db, bookingFeed, host_id, read)
    oldest = Math.min(oldest, unread?.getTime() ?? oldest)
  }
  return (now.getTime() - oldest) / 1000
}
