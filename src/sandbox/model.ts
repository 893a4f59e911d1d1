import { modelOf } from '../platform/mongo/collections.ts'
import {
  list,
  moment,
  number,
  numberOrNull,
  type Stored,
  schemaOf,
  textOrNull,
  word,
} from '../platform/mongo/fields.ts'
import type { FaultRule } from './faults/rule.ts'

const fields = {
  /** The scope, which takes the place of a host id in all documents of this sandbox. */
  _id: number,
  key_id: number,
  /** `filling` until all data is stored, `open` while requests can find the sandbox, `ended` until it is deleted. */
  state: word<'filling' | 'open' | 'ended'>(),
  /** Time at which the sandbox ends or its filling is abandoned; for an ended sandbox, the time of its last sweep. */
  due_at: moment,
  /** Upper bound on the number of documents in the sandbox. */
  documents: number,
  /** Approximate total size of the request bodies written to the sandbox, in bytes. */
  bytes: number,
  /** Seconds by which the sandbox's clock is ahead. */
  ahead_seconds: { ...number, default: 0 },
  /** Rules that inject faults into requests and hints. */
  rules: list<FaultRule>(Object),
  /** Changes whenever the rules are replaced. */
  rules_id: textOrNull,
  /** Id of the certification that observes the sandbox and plays its faults; null if none does. */
  observer_id: numberOrNull,
}

/**
 * One sandbox. Its record is written before any of its documents and deleted after all of them, so that nothing is left
 * behind if a process dies.
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
  _id: number,
  /** Times at which the key's sandbox was filled, at most the last 60. */
  fills: list<Date>(Date),
  /** The last version that any of the key's sandboxes issued, in seconds since 1970. */
  last_version: { ...number, default: 0 },
  /** The last message version that any of the key's sandboxes issued, in seconds since 1970. */
  last_message_version: { ...number, default: 0 },
}

/** State that outlives a key's sandboxes. */
export type SandboxKey = Stored<typeof keyFields>

const keySchema = schemaOf(keyFields)
keySchema.index({ last_version: 1 }, { name: 'sandbox_key_version' })

export const sandboxKeyModel = modelOf<SandboxKey>('sandbox_keys', keySchema)
