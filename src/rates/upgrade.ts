import { ensureWaitingRates } from '../listings/rates-store.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { MigrationPart } from '../platform/mongo/migration.ts'
import type { RateItem } from './schema.ts'

/** How an earlier version stored one rates write: all listings in one document. */
interface EarlierRates {
  host_id: number
  sequence: number
  items: RateItem[]
  accepted_at: Date
}

/** An earlier version counted places by another clock; what it accepted comes before what this version accepts. */
const beforeAllOthers = 2 ** 40

const earlierCollection = 'accepted_rates'

/** {@link upgradeWaitingRates} as part of a migration. */
export const earlierRates: MigrationPart = {
  remaining: (db) => db.collection(earlierCollection).countDocuments(),
  run: (db) => upgradeWaitingRates(db),
}

/** Converts the waiting rates of an earlier version, for one host or for all. */
export async function upgradeWaitingRates(db: Db, hostId?: number): Promise<void> {
  const which = hostId === undefined ? {} : { host_id: hostId }
  const earlier = db.collection<EarlierRates>(earlierCollection)
  for (const { _id, items, ...rates } of await earlier.find(which).sort({ sequence: 1 }).toArray()) {
    for (const [listing_id, ofListing] of Map.groupBy(items, (item) => item.listing_id)) {
      const prices = ofListing.map(({ listing_id: _, currency: __, ...rest }) => rest)
      await ensureWaitingRates(db, {
        ...{ host_id: rates.host_id, listing_id, sequence: rates.sequence - beforeAllOthers },
        ...{ prices, accepted_at: rates.accepted_at },
      })
    }
    await earlier.deleteOne({ _id })
  }
}
