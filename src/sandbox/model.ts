import type { FaultName, FaultRule } from '../http/fault-rule.ts'
import { modelOf } from '../platform/mongo/collections.ts'
import {
  list,
  moment,
  momentOrNull,
  number,
  objectOrNull,
  type Stored,
  schemaOf,
  textOrNull,
  word,
} from '../platform/mongo/fields.ts'

/**
 * A fault that a certification plays: it lasts a time from when it is first met, however many requests meet it, so that
 * nobody's own repetitions use it up (decisions §25).
 */
export interface CourseFault {
  id: string
  fault: FaultName
  /** The route that meets it, with its method. */
  route: string
  milliseconds: number
  /** When it is over, by the database's clock; null until it is met. */
  until: Date | null
}

const fields = {
  /** The scope: takes the place of a host id, and everything in this sandbox belongs to it. */
  _id: number,
  key_id: number,
  /** `filling` until the data is in it, `open` while requests find it, `ended` until it is deleted. */
  state: word<'filling' | 'open' | 'ended'>(),
  /** When it ends, or when filling it is given up; once it has ended, when it is swept for the last time. */
  due_at: moment,
  /** How many documents it may hold, at most. */
  documents: number,
  /** Bytes of the bodies that were written to it. */
  bytes: number,
  /** How far its clock was moved ahead, in seconds. */
  ahead_seconds: { ...number, default: 0 },
  /** Until when a scenario has its turn, and which; null for none. */
  turn_until: momentOrNull,
  turn_of: textOrNull,
  /** By which requests and hints meet faults. */
  rules: list<FaultRule>(Object),
  /** Differs for all rules that it ever had. */
  rules_id: textOrNull,
  /** The certification that runs in it, and what it plays; null for none. */
  course: objectOrNull({ certification_id: number, faults: list<CourseFault>(Object), hint: textOrNull }),
}

/**
 * One sandbox. Its record is written before anything is put into it and deleted after everything in it, so that
 * nothing is left behind, whenever a process dies.
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
  /** Until when a process fills its sandbox: the others wait for it, so that it is filled once. Null for none. */
  filling_until: momentOrNull,
  /** When it was filled, the last 60 times. */
  fills: list<Date>(Date),
  /** The last version that any of its sandboxes gave out, in seconds since 1970. */
  last_version: { ...number, default: 0 },
  /** The same of messages. */
  last_message_version: { ...number, default: 0 },
}

/** State that outlives a key's sandboxes. */
export type SandboxKey = Stored<typeof keyFields>

const keySchema = schemaOf(keyFields)
keySchema.index({ last_version: 1 }, { name: 'sandbox_key_version' })

export const sandboxKeyModel = modelOf<SandboxKey>('sandbox_keys', keySchema)
