import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const fields = {
  at: field.moment,
  /** A command's effective OS user, a partner's key, or `service`. */
  user: field.text,
  /** The machine's hostname, or the client address of a partner's request. */
  machine: field.text,
  /** The user who ran the command through `sudo`, as reported by `sudo`; null if `sudo` was not used. */
  sudo_user: field.textOrNull,
  /** The account that the database connection uses; null if it uses none, for example with the embedded server. */
  database_user: field.textOrNull,
  /** The command, for example `keys revoke`. */
  action: field.text,
  target: field.text,
  /** The reason, as free text; null if none was given or the guest was erased. */
  reason: field.textOrNull,
}
const hostFields = { owner_id: field.number, ...fields }

/**
 * A record of an administrative action, of a partner's booking transition or webhook change, or of the service turning
 * off a webhook.
 */
export type AuditEntry = Stored<typeof fields>

/** An entry about an owner's data. It has an `owner_id` so that it is stored on the same shard as that data. */
export type HostAuditEntry = Stored<typeof hostFields>

const schema = schemaOf(fields)
schema.index({ at: -1 }, { name: 'audit_time' })

export const auditModel = modelOf<AuditEntry>('audit', schema)

const ofHost = schemaOf(hostFields)
ofHost.index({ owner_id: 1, at: -1 }, { name: 'host_audit_host' })
ofHost.index({ at: -1 }, { name: 'host_audit_time' })
ofHost.index({ owner_id: 1, target: 1 }, { name: 'host_audit_target' })

export const hostAuditModel = modelOf<HostAuditEntry>('host_audit', ofHost, { owner: 'owner_id' })
