import { Schema } from 'mongoose'
import { modelOf } from '../infra/mongo.ts'
import type { RateItem } from './schema.ts'

/** Rates that were accepted and wait to be applied. */
export interface AcceptedRates {
  host_id: number
  /** Place among the host's changes: the order in which rates are applied. */
  sequence: number
  items: RateItem[]
  accepted_at: Date
}

const schema = new Schema<AcceptedRates>({
  host_id: { type: Number, required: true },
  sequence: { type: Number, required: true },
  items: { type: [Schema.Types.Mixed], required: true } as never,
  accepted_at: { type: Date, required: true },
})
schema.index({ host_id: 1, sequence: 1 }, { unique: true, name: 'rates_order' })

export const acceptedRatesModel = modelOf<AcceptedRates>('accepted_rates', schema)
