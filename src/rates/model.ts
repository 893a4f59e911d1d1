import { Schema } from 'mongoose'
import { modelOf } from '../infra/mongo.ts'
import type { RoomTypePrices } from './waiting.ts'

/**
 * Rates of one listing that were accepted and are not yet part of its document. One rates write leaves one of
 * these for each listing it names.
 */
export interface WaitingRates {
  host_id: number
  listing_id: number
  /** Place among the writes of the host's listings: the order in which rates count. */
  sequence: number
  prices: RoomTypePrices[]
  accepted_at: Date
}

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
