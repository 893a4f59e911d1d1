import { modelOf } from '../../platform/mongo/collections.ts'
import { momentOrNull, number, type Stored, schemaOf, text, word } from '../../platform/mongo/fields.ts'
import type { ConsumedFeed } from './schema.ts'

const fields = {
  host_id: number,
  /** The key it belongs to or, in the sandbox, the key's current sandbox. */
  scope: number,
  key_id: number,
  feed: word<ConsumedFeed>(),
  name: text,
  /** Keeps their number: each consumer of a key and feed has one of so many slots. */
  slot: number,
  /** The version of the last change that was handled; null before the first. */
  acknowledged: momentOrNull,
  acknowledged_at: momentOrNull,
}

/** A named position in a feed, kept for a poller without a disk. */
export type Consumer = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1, scope: 1, feed: 1, name: 1 }, { unique: true, name: 'consumer_name' })
schema.index({ host_id: 1, scope: 1, feed: 1, slot: 1 }, { unique: true, name: 'consumer_slot' })

export const consumerModel = modelOf<Consumer>('consumers', schema)
