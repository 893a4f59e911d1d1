import type { Db } from '../infra/mongo.ts'
import { waitingRatesModel } from './model.ts'
import type { RateItem } from './schema.ts'

/** What an earlier version left of one rates write: all listings in one document. */
interface EarlierRates {
  host_id: number
  sequence: number
  items: RateItem[]
  accepted_at: Date
}

/** An earlier version counted places by another clock; what it accepted comes before what this one accepts. */
const aheadOfAll = 2 ** 40

/** Turns the waiting rates that an earlier version left, for one host or for all, into those of this one. */
export async function moveEarlierRates(db: Db, hostId?: number): Promise<void> {
  const which = hostId === undefined ? {} : { host_id: hostId }
  const earlier = db.collection<EarlierRates>('accepted_rates')
  for (const { _id, items, ...rates } of await earlier.find(which).sort({ sequence: 1 }).toArray()) {
    for (const [listing_id, ofListing] of Map.groupBy(items, (item) => item.listing_id)) {
      const prices = ofListing.map(({ listing_id: _, currency: __, ...rest }) => rest)
      const place = { host_id: rates.host_id, listing_id, sequence: rates.sequence - aheadOfAll }
      const values = { $setOnInsert: { prices, accepted_at: rates.accepted_at } } as never
      await waitingRatesModel(db).collection.updateOne(place, values, { upsert: true })
    }
    await earlier.deleteOne({ _id })
  }
}
