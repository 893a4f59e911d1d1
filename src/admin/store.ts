import { hostname, userInfo } from 'node:os'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { type AuditEntry, auditModel } from './model.ts'

/** Adds an entry to the audit log, in the transaction of the action itself where it has one. */
export async function recordAction(
  db: Db,
  at: Date,
  action: string,
  target: string,
  session: Session | null = null,
): Promise<void> {
  await auditModel(db).create([{ at, user: userName(), machine: hostname(), action, target }], { session })
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
