import { activityFields } from '../activity/stored-fields.ts'
import { modelOf } from '../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../platform/mongo/fields.ts'
import type { FaultRule } from './faults/rule.ts'

const fields = {
  /** The sandbox's id, which is the `owner_id` of all of the sandbox's documents. */
  _id: field.number,
  key_id: field.number,
  /** `filling` until all data is stored, `open` until the sandbox is cleared or swept, then `ended`. */
  state: field.literal<'filling' | 'open' | 'ended'>(),
  /** Time at which the sandbox expires or its filling is abandoned; for an ended sandbox, time of its final sweep. */
  due_at: field.moment,
  /** Upper bound on the number of documents in the sandbox. */
  documents: field.number,
  /** Approximate total size of the request bodies written to the sandbox, in bytes. */
  bytes: field.number,
  /** Number of seconds by which the sandbox's clock is ahead. */
  ahead_seconds: { ...field.number, default: 0 },
  /** Rules that inject faults into requests and hints. */
  rules: field.list<FaultRule>(Object),
  /** Changes whenever the rules are replaced. */
  rules_id: field.textOrNull,
  /** Id of the certification that is observing the sandbox and injecting faults into it; null if there is none. */
  observer_id: field.numberOrNull,
  /** What the sandbox's key has done in it. */
  ...activityFields,
}

/**
 * A sandbox. Its record is written before the first of its documents and deleted after the last one, so that a process
 * that dies leaves no orphaned documents.
 */
export type Sandbox = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index(
  { key_id: 1 },
  { unique: true, name: 'sandbox_open', partialFilterExpression: { state: 'open' } },
)
schema.index({ due_at: 1 }, { name: 'sandbox_due' })
schema.index(
  { ahead_seconds: 1 },
  { name: 'sandbox_ahead', partialFilterExpression: { ahead_seconds: { $gt: 0 } } },
)

export const sandboxModel = modelOf<Sandbox>('sandboxes', schema)

const keyFields = {
  /** Id of the key. */
  _id: field.number,
  /** Times of the last 60 fills of the key's sandbox. */
  fills: field.list<Date>(Date),
  /** The last version that any of the key's sandboxes issued, in seconds since 1970. */
  last_version: { ...field.number, default: 0 },
  /** The last message version that any of the key's sandboxes issued, in seconds since 1970. */
  last_message_version: { ...field.number, default: 0 },
}

/** The part of a key's state that outlives its sandboxes. */
export type SandboxKey = Stored<typeof keyFields>

const keySchema = schemaOf(keyFields)
keySchema.index({ last_version: 1 }, { name: 'sandbox_key_version' })

export const sandboxKeyModel = modelOf<SandboxKey>('sandbox_keys', keySchema)
