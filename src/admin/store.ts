import { hostname, userInfo } from 'node:os'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { type AuditEntry, auditModel } from './model.ts'

/**
 * Adds an entry to the audit log, in the transaction of the action itself where it has one.
 *
 * @param actor who did it, if not the user of this command
 */
export async function recordAction(
  db: Db,
  at: Date,
  action: string,
  target: string,
  session: Session | null = null,
  actor: Pick<AuditEntry, 'user' | 'machine'> = { user: userName(), machine: hostname() },
): Promise<void> {
  await auditModel(db).create([{ at, ...actor, action, target }], { session })
}

/** The latest entries of the audit log, newest first. */
export async function listActions(db: Db, limit: number): Promise<AuditEntry[]> {
  return auditModel(db).find().sort({ at: -1, _id: -1 }).limit(limit).lean()
}

/** A container may run under a user id without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
