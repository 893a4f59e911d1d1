import { indexFieldsOf, listingModel, type StoredListing } from '../../src/inventory/listings/model.ts'
import { listingStatuses } from '../../src/inventory/listings/schema.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'

/** Writes `count` listings of one room type straight into the database, with mixed names and statuses. */
export async function fillPortfolio(db: Db, hostId: number, count: number, firstId: number): Promise<void> {
  const batch = 2000
  for (let start = 0; start < count; start += batch) {
    const listings = Array.from({ length: Math.min(batch, count - start) }, (_, at) =>
      listing(hostId, firstId + start + at),
    )
    await listingModel(db).collection.insertMany(listings)
  }
}

function listing(hostId: number, id: number): StoredListing {
  const name = `House ${(id * 7919) % 10_007} of street ${id % 97}`
  const rank = id % listingStatuses.length
  const at = new Date(Date.UTC(2026, 0, 1) + ((id * 104_729) % 1_000_003) * 1000)
  const room_types = [
    { id: id * 10, partner_id: 'a', name: 'Room', rooms: [{ id: id * 10, partner_id: 'r', name: 'R1' }] },
  ]
  const content = { name, original_id: `p-${id}`, room_types }
  return {
    id,
    owner_id: hostId,
    unique_id: `lst_${id}`,
    listing_status: listingStatuses[rank] as StoredListing['listing_status'],
    calendar_room_types: [],
    status_rank: rank,
    ...indexFieldsOf(content),
    content,
    revision: 1,
    created_at: at,
    updated_at: at,
  }
}
