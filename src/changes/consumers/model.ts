import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import type { ConsumedFeed } from './feeds.ts'

/** A named position in a feed, kept for a poller without a disk. */
export interface Consumer {
  host_id: number
  /** The key it belongs to or, in the sandbox, the key's current sandbox. */
  scope: number
  key_id: number
  feed: ConsumedFeed
  name: string
  /** Keeps their number: each consumer of a key and feed has one of so many slots. */
  slot: number
  /** The version of the last change that was handled; null before the first. */
  acknowledged: Date | null
  acknowledged_at: Date | null
}

const schema = new Schema<Consumer>({
  host_id: { type: Number, required: true },
  scope: { type: Number, required: true },
  key_id: { type: Number, required: true },
  feed: { type: String, required: true },
  name: { type: String, required: true },
  slot: { type: Number, required: true },
  acknowledged: { type: Date, default: null },
  acknowledged_at: { type: Date, default: null },
})
schema.index({ host_id: 1, scope: 1, feed: 1, name: 1 }, { unique: true, name: 'consumer_name' })
schema.index({ host_id: 1, scope: 1, feed: 1, slot: 1 }, { unique: true, name: 'consumer_slot' })

export const consumerModel = modelOf<Consumer>('consumers', schema)
