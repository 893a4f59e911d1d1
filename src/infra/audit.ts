import { hostname, userInfo } from 'node:os'
import { Schema } from 'mongoose'
import { type Db, modelOf, type Session } from './mongo.ts'

/** One act of an administrator: who, what, on what, when. */
export interface AuditEntry {
  at: Date
  /** Operating-system user and host name. */
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

/** Writes an act down, in the transaction of the act where it is one. */
export async function recordAct(
  db: Db,
  at: Date,
  action: string,
  target: string,
  session: Session | null = null,
): Promise<void> {
  await auditModel(db).create([{ at, user: userName(), machine: hostname(), action, target }], { session })
}

/** The latest acts, latest first. */
export async function listActs(db: Db, limit: number): Promise<AuditEntry[]> {
  return auditModel(db).find().sort({ at: -1, _id: -1 }).limit(limit).lean()
}

/** A container may run under a user id that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
