import { modelOf } from '../../platform/mongo/collections.ts'
import { momentOrNull, number, type Stored, schemaOf, text, word } from '../../platform/mongo/fields.ts'
import type { ConsumedFeed } from './schema.ts'

const fields = {
  host_id: number,
  /** The key that the consumer belongs to or, in the sandbox, the key's current sandbox. */
  scope: number,
  key_id: number,
  feed: word<ConsumedFeed>(),
  name: text,
  /** Slot that the consumer occupies. The number of slots per key and feed limits the number of consumers. */
  slot: number,
  /** Version of the last change that the poller has handled; null at the beginning of the feed. */
  acknowledged: momentOrNull,
  acknowledged_at: momentOrNull,
}

/** A named position in a feed, stored for a poller without a disk. */
export type Consumer = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1, scope: 1, feed: 1, name: 1 }, { unique: true, name: 'consumer_name' })
schema.index({ host_id: 1, scope: 1, feed: 1, slot: 1 }, { unique: true, name: 'consumer_slot' })

export const consumerModel = modelOf<Consumer>('consumers', schema)
