import { hostname, userInfo } from 'node:os'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { type AuditEntry, auditModel, type HostAuditEntry, hostAuditModel } from './model.ts'

/** An action to be noted. */
export type Action = Pick<AuditEntry, 'at' | 'action' | 'target'> & {
  /** Whose data it concerns; null for hosts and keys themselves, and for what concerns several hosts. */
  host_id: number | null
  /** Who did it, if not the user of this command. */
  actor?: Pick<AuditEntry, 'user' | 'machine'>
}

/** A partner, as the audit log names who did something. */
export function partnerActor({ keyId, address }: { keyId: number; address: string }) {
  return { user: `key ${keyId}`, machine: address }
}

/** The service itself, as the audit log names who did something. */
export function serviceActor() {
  return { user: 'service', machine: hostname() }
}

/** Adds an entry to the audit log, in the transaction of the action itself where it has one. */
export async function recordAction(
  db: Db,
  { host_id, actor = { user: userName(), machine: hostname() }, ...entry }: Action,
  session: Session | null = null,
): Promise<void> {
  if (host_id === null) await auditModel(db).create([{ ...entry, ...actor }], { session })
  else await hostAuditModel(db).create([{ host_id, ...entry, ...actor }], { session })
}

/** The latest entries of the audit log, newest first. */
export async function listActions(db: Db, limit: number): Promise<AuditEntry[]> {
  const [general, ofHosts] = await Promise.all([
    auditModel(db).find().sort({ at: -1, _id: -1 }).limit(limit).lean<AuditEntry[]>(),
    hostAuditModel(db).find().sort({ at: -1, _id: -1 }).limit(limit).lean<HostAuditEntry[]>(),
  ])
  return [...general, ...ofHosts].sort((one, other) => other.at.getTime() - one.at.getTime()).slice(0, limit)
}

/** A container may run under a user id without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
