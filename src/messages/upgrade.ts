import { findListingsOf } from '../bookings/store.ts'
import { countsMessages, hostQueue, nextSequence, startMessageClock } from '../host-clock/store.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { inTransaction } from '../platform/mongo/transactions.ts'
import { findUnversioned, lastMessageVersion, saveVersions } from './store.ts'

/** Hosts whose messages have versions, as this process knows: they never lose them again. */
const ready = new WeakMap<Db, Set<number>>()
const mostRemembered = 100_000

const batchSize = 500

/**
 * Gives the messages that an earlier version of this service stored their versions, in the order in which they were
 * sent; call it before anything else gives or reads the versions of a host's messages. Several processes may do it at
 * once, and what a killed one leaves is continued.
 */
export async function ensureMessageVersions(db: Db, hostId: number): Promise<void> {
  const hosts = ready.get(db) ?? new Set()
  ready.set(db, hosts)
  if (hosts.has(hostId)) return
  while (!(await countsMessages(db, hostId))) await versionEarlierMessages(db, hostId)
  if (hosts.size >= mostRemembered) hosts.clear()
  hosts.add(hostId)
}

/** One batch; after the last one, the host's clock counts messages. */
function versionEarlierMessages(db: Db, hostId: number): Promise<void> {
  return inTransaction(db, hostQueue(hostId), async (session) => {
    // First, so that of two processes the later one starts over and sees what the other has done.
    await nextSequence(db, session, hostId)
    let last = (await lastMessageVersion(db, session, hostId)).getTime() / 1000
    const messages = await findUnversioned(db, session, hostId, batchSize)
    if (messages.length === 0) return startMessageClock(db, session, hostId, last)
    const bookings = [...new Set(messages.map(({ booking_id }) => booking_id))]
    const listings = await findListingsOf(db, session, hostId, bookings)
    const versioned = messages.map(({ id, booking_id, created_at }) => {
      last = Math.max(Math.floor(created_at.getTime() / 1000), last + 1)
      return { id, listing_id: listings.get(booking_id) ?? 0, version: new Date(last * 1000) }
    })
    await saveVersions(db, session, hostId, versioned)
  })
}
