import { Schema, type SchemaDefinition } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'

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

/** One that concerns what a host has: where a host is on one shard, so is the entry. */
export interface HostAuditEntry extends AuditEntry {
  host_id: number
}

const columns = {
  at: { type: Date, required: true },
  user: { type: String, required: true },
  machine: { type: String, required: true },
  action: { type: String, required: true },
  target: { type: String, required: true },
} as const satisfies SchemaDefinition

const schema = new Schema<AuditEntry>(columns)
schema.index({ at: -1 }, { name: 'audit_time' })

export const auditModel = modelOf<AuditEntry>('audit', schema)

const ofHost = new Schema<HostAuditEntry>({ host_id: { type: Number, required: true }, ...columns })
ofHost.index({ host_id: 1, at: -1 }, { name: 'host_audit_host' })
ofHost.index({ at: -1 }, { name: 'host_audit_time' })

export const hostAuditModel = modelOf<HostAuditEntry>('host_audit', ofHost)
