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
  /** Of an ended one: the last version that its clock gave out, in seconds since 1970. */
  last_version?: number
  /** The same of messages. */
  last_message_version?: number
}

const schema = new Schema<Sandbox>({
  _id: { type: Number, required: true },
  key_id: { type: Number, required: true },
  state: { type: String, required: true },
  due_at: { type: Date, required: true },
  last_version: Number,
  last_message_version: Number,
})
schema.index(
  { key_id: 1 },
  { unique: true, name: 'sandbox_open', partialFilterExpression: { state: 'open' } },
)
schema.index({ due_at: 1 }, { name: 'sandbox_due' })

export const sandboxModel = modelOf<Sandbox>('sandbox_scopes', schema)
