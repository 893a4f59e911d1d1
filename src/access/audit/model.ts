import { modelOf } from '../../platform/mongo/collections.ts'
import { moment, number, type Stored, schemaOf, text, textOrNull } from '../../platform/mongo/fields.ts'

const fields = {
  at: moment,
  /** The effective user of the operating system and the machine; for a partner, the key and its client address. */
  user: text,
  machine: text,
  /** The user who called the command through `sudo`, as that says; null for none. */
  sudo_user: textOrNull,
  /** The account of the database connection; null for none, as on the embedded server. */
  database_user: textOrNull,
  /** The command, for example `keys revoke`. */
  action: text,
  target: text,
  /** Why, in somebody's words; null for none, and where the guest was erased. */
  reason: textOrNull,
}
const hostFields = { host_id: number, ...fields }

/** One administrative action, or a partner's move of a booking: who did what, to what, and when. */
export type AuditEntry = Stored<typeof fields>

/** One that concerns what a host has: where a host is on one shard, so is the entry. */
export type HostAuditEntry = Stored<typeof hostFields>

const schema = schemaOf(fields)
schema.index({ at: -1 }, { name: 'audit_time' })

export const auditModel = modelOf<AuditEntry>('audit', schema)

const ofHost = schemaOf(hostFields)
ofHost.index({ host_id: 1, at: -1 }, { name: 'host_audit_host' })
ofHost.index({ at: -1 }, { name: 'host_audit_time' })
ofHost.index({ host_id: 1, target: 1 }, { name: 'host_audit_target' })

export const hostAuditModel = modelOf<HostAuditEntry>('host_audit', ofHost)
