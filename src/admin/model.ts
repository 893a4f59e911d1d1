import { Schema } from 'mongoose'
import { modelOf } from '../platform/mongo/collections.ts'

/** One administrative action, or a partner's move of a booking: who did what, to what, and when. */
export interface AuditEntry {
  at: Date
  /** Operating-system user and machine name; of a partner, the key and its client address. */
  user: string
  machine: string
  /** The command, for example `keys revoke`. */
  action: string
  target: string
}

const schema = new Schema<AuditEntry>({
  at: { type: Date, required: true },
  user: { type: String, required: true },
  machine: { type: String, required: true },
  action: { type: String, required: true },
  target: { type: String, required: true },
})
schema.index({ at: -1 }, { name: 'audit_time' })

export const auditModel = modelOf<AuditEntry>('audit', schema)
