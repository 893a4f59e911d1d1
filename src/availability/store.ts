import type { Deps } from '../deps.ts'
import { DomainError, invalidFields } from '../errors.ts'
import { hostQueue, nextSequence } from '../infra/host-clock.ts'
import { inTransaction } from '../infra/mongo.ts'
import { findOwnedListings, foreignListings, hasRoomType, type OwnedListings } from '../listings/ownership.ts'
import { type Availability, availabilityModel } from './model.ts'
import { overlay } from './overlay.ts'
import type { AvailabilityItem } from './schema.ts'

type Store = Pick<Deps, 'db' | 'clock' | 'ids'>

/** Rows that one room type can hold: daily ranges for 27 years. */
const mostRows = 10_000

/**
 * Lays the items, in their order, over the availability of a host: all of them or, also after a crash, none.
 *
 * @throws DomainError `forbidden` (listings of others), `invalid_ids`
 */
export async function writeAvailability(
  { db, clock, ids }: Store,
  hostId: number,
  items: AvailabilityItem[],
): Promise<void> {
  const [listings, firstId] = await Promise.all([
    findOwnedListings(db, hostId, items),
    // Each item makes one row, and may split another.
    ids('availability_row', items.length * 2),
  ])
  requireOwned(items, listings)
  const byRoomType = Map.groupBy(items, ({ room_type_id }) => room_type_id)
  await inTransaction(db, hostQueue(hostId), async (session) => {
    const sequence = await nextSequence(db, session, hostId)
    const updated_at = clock()
    const stored = await availabilityModel(db)
      .find({ host_id: hostId, room_type_id: { $in: [...byRoomType.keys()] } })
      .session(session)
      .lean()
    const rowsOf = new Map(stored.map(({ room_type_id, rows }) => [room_type_id, rows]))
    let id = firstId
    const newId = () => id++
    const documents = [...byRoomType].map(([room_type_id, ranges]): Availability => {
      const { listing_id } = ranges[0] as AvailabilityItem
      const rows = ranges.reduce(
        (under, { available, start_date, end_date }) =>
          overlay(under, { id: newId(), available, start_date, end_date, updated_at, sequence }, newId),
        rowsOf.get(room_type_id) ?? [],
      )
      requireFewRows(rows.length)
      return { host_id: hostId, listing_id, room_type_id, rows }
    })
    const writes = documents.map((document) => ({
      replaceOne: {
        filter: { host_id: hostId, room_type_id: document.room_type_id },
        replacement: document,
        upsert: true,
      },
    }))
    await availabilityModel(db).collection.bulkWrite(writes, { session, ordered: false })
  })
}

function requireOwned(items: AvailabilityItem[], { owned, foreign }: OwnedListings): void {
  if (foreign.length > 0) {
    throw foreignListings(
      foreign.map((id, index) => ({ path: `unauthorized_listing_ids.${index}`, message: String(id) })),
    )
  }
  const strangers = items.filter((item) => !hasRoomType(owned, item))
  if (strangers.length === 0) return
  const reason = 'Room type not found or does not belong to listing'
  const entries = strangers.map(({ listing_id, room_type_id }) =>
    JSON.stringify({ listing_id, room_type_id, reason }),
  )
  const message = `[${[...new Set(entries)].join(',')}]`
  throw new DomainError('invalid_ids', 'Invalid room types', [
    { path: 'invalid_room_types', code: 'invalid', message },
  ])
}

function requireFewRows(rows: number): void {
  if (rows <= mostRows) return
  const message = `A room type must have at most ${mostRows} ranges`
  throw invalidFields([{ path: 'data', code: 'max', message }])
}
