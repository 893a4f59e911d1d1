import { Schema } from 'mongoose'
import { modelOf } from '../platform/mongo/collections.ts'

/**
 * One sandbox. Its record is written before anything is put into it and deleted after everything in it, so that
 * nothing is left behind, whenever a process dies.
 */
export interface Sandbox {
  /** The scope: takes the place of a host id, and everything in this sandbox belongs to it. */
  _id: number
  key_id: number
  /** `filling` until the data is in it, `open` while requests find it, `ended` until it is deleted. */
  state: 'filling' | 'open' | 'ended'
  /** When it ends, or when filling it is given up; once it has ended, when it is swept for the last time. */
  due_at: Date
  /** How many documents it may hold, at most. */
  documents: number
  /** Bytes of the bodies that were written to it. */
  bytes: number
}

const schema = new Schema<Sandbox>({
  _id: { type: Number, required: true },
  key_id: { type: Number, required: true },
  state: { type: String, required: true },
  due_at: { type: Date, required: true },
  documents: { type: Number, required: true },
  bytes: { type: Number, required: true },
})
schema.index(
  { key_id: 1 },
  { unique: true, name: 'sandbox_open', partialFilterExpression: { state: 'open' } },
)
schema.index({ due_at: 1 }, { name: 'sandbox_due' })

export const sandboxModel = modelOf<Sandbox>('sandboxes', schema)

/** What goes on from one sandbox of a key to the next. */
export interface SandboxKey {
  /** Id of the key. */
  _id: number
  /** Until when a process fills its sandbox: the others wait for it, so that it is filled once. Null for none. */
  filling_until: Date | null
  /** When it was last filled, at most ten times. */
  fills: Date[]
  /** The last version that any of its sandboxes gave out, in seconds since 1970. */
  last_version: number
  /** The same of messages. */
  last_message_version: number
}

const keySchema = new Schema<SandboxKey>({
  _id: { type: Number, required: true },
  filling_until: { type: Date, default: null },
  fills: { type: [Date], required: true },
  last_version: { type: Number, default: 0 },
  last_message_version: { type: Number, default: 0 },
})
keySchema.index({ last_version: 1 }, { name: 'sandbox_key_version' })

export const sandboxKeyModel = modelOf<SandboxKey>('sandbox_keys', keySchema)
