import { Schema } from 'mongoose'
import { modelOf } from '../platform/mongo/collections.ts'
import type { WaitingRates } from './waiting-rates.ts'

const schema = new Schema<WaitingRates>({
  host_id: { type: Number, required: true },
  listing_id: { type: Number, required: true },
  sequence: { type: Number, required: true },
  prices: { type: [Schema.Types.Mixed], required: true } as never,
  accepted_at: { type: Date, required: true },
})
schema.index({ host_id: 1, listing_id: 1, sequence: 1 }, { unique: true, name: 'rates_of_listing' })
schema.index({ host_id: 1, sequence: 1 }, { name: 'rates_place' })

export const waitingRatesModel = modelOf<WaitingRates>('waiting_rates', schema)
