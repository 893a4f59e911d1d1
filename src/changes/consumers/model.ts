import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'
import type { FeedName } from '../feeds.ts'

const fields = {
  owner_id: field.number,
  key_id: field.number,
  feed: field.literal<FeedName>(),
  name: field.text,
  /** Slot that the consumer occupies. The number of slots per key and feed limits the number of consumers. */
  slot: field.number,
  /** Version of the last change that the poller has handled; null at the beginning of the feed. */
  acknowledged: field.momentOrNull,
  acknowledged_at: field.momentOrNull,
  /** The last time at which the consumer moved forward, or the time of its creation. */
  progressed_at: field.moment,
}

/** A named position in a feed, stored for a poller without a disk. */
export type Consumer = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, key_id: 1, feed: 1, name: 1 }, { unique: true, name: 'consumer_name' })
schema.index({ owner_id: 1, key_id: 1, feed: 1, slot: 1 }, { unique: true, name: 'consumer_slot' })

export const consumerModel = modelOf<Consumer>('consumers', schema, { owner: 'owner_id' })
