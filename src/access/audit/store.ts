import { hostname } from 'node:os'
import { isValidObjectId, type Types } from 'mongoose'
import { notFound } from '../../core/errors.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { type AuditEntry, auditModel, type HostAuditEntry, hostAuditModel } from './model.ts'

/** Whoever did something: a user of a command, a key, or the service. */
export type Actor = Pick<AuditEntry, 'user' | 'machine'> &
  Partial<Pick<AuditEntry, 'sudo_user' | 'database_user'>>

/** An action to be noted. */
export type Action = Pick<AuditEntry, 'at' | 'action' | 'target'> & {
  /** In somebody's words: kept apart, because it may be about a person. */
  reason?: string | null
  /** Whose data it concerns; null for hosts and keys themselves, and for what concerns several hosts. */
  host_id: number | null
  /** Who did it, if not the user of this command. */
  actor?: Actor
}

/** A booking as the audit log names it. */
export function bookingTarget(id: number): string {
  return `booking ${id}`
}

/** The entries about some targets of a host, oldest first. */
export function findActionsOn(db: Db, hostId: number, targets: string[]): Promise<HostAuditEntry[]> {
  return hostAuditModel(db)
    .find({ host_id: hostId, target: { $in: targets } })
    .sort({ at: 1 })
    .lean()
}

/** Erases the reasons of what was done to some targets of a host. */
export async function eraseReasons(db: Db, hostId: number, targets: string[]): Promise<void> {
  const filter = { host_id: hostId, target: { $in: targets }, reason: { $ne: null } }
  await hostAuditModel(db).updateMany(filter, { $set: { reason: null } })
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
  { host_id, actor, reason = null, ...action }: Action,
  session: Session | null = null,
): Promise<void> {
  const entry = { ...action, reason, ...(actor ?? (await commandActor(db))) }
  if (host_id === null) await auditModel(db).create([entry], { session })
  else await hostAuditModel(db).create([{ host_id, ...entry }], { session })
}

/** The accounts of the connections of this process: a command on many guests asks once. */
const accounts = new WeakMap<Db, Promise<string | null>>()

/** The user of a command. Variables such as `USER` say nothing: anybody can set them. */
async function commandActor(db: Db): Promise<Required<Actor>> {
  const account = accounts.get(db) ?? accountOf(db)
  accounts.set(db, account)
  return {
    user: effectiveUser(),
    machine: hostname(),
    sudo_user: process.env.SUDO_USER?.trim().slice(0, 255) || null,
    database_user: await account,
  }
}

async function accountOf(db: Db): Promise<string | null> {
  const { authInfo } = await db.getClient().db('admin').command({ connectionStatus: 1 })
  const [account] = authInfo?.authenticatedUsers ?? []
  return account ? `${account.user}@${account.db}` : null
}

/** An entry with the id by which a list goes on after it. */
export type ListedAction = AuditEntry & { id: string }

/** Which entries of the audit log. */
export interface AuditQuestion {
  /** Only those older than the entry with this id. */
  after?: string | undefined
  /** From this moment on, and before that one. */
  since?: Date | undefined
  until?: Date | undefined
}

/**
 * The latest entries of the audit log, newest first.
 *
 * @throws DomainError `not_found` for an `after` that there is not
 */
export async function listActions(
  db: Db,
  { after, since, until }: AuditQuestion,
  limit: number,
): Promise<ListedAction[]> {
  const last = after === undefined ? null : await findAction(db, after)
  const at = { ...(since ? { $gte: since } : {}), ...(until ? { $lt: until } : {}) }
  const filter = {
    ...(Object.keys(at).length > 0 ? { at } : {}),
    // In the order of the list: those of one moment by their ids.
    ...(last ? { $or: [{ at: { $lt: last.at } }, { at: last.at, _id: { $lt: last._id } }] } : {}),
  }
  const newest = (model: typeof auditModel) =>
    model(db).find(filter).sort({ at: -1, _id: -1 }).limit(limit).lean<StoredAction[]>()
  const [general, ofHosts] = await Promise.all([newest(auditModel), newest(hostAuditModel as never)])
  return [...general, ...ofHosts]
    .sort(
      (one, other) => other.at.getTime() - one.at.getTime() || (String(other._id) > String(one._id) ? 1 : -1),
    )
    .slice(0, limit)
    .map((entry) => ({ ...entry, id: String(entry._id) }))
}

type StoredAction = AuditEntry & { _id: Types.ObjectId }

async function findAction(db: Db, id: string): Promise<StoredAction> {
  const _id = isValidObjectId(id) ? id : null
  const found =
    _id &&
    ((await auditModel(db).findById(_id).lean<StoredAction>()) ??
      (await hostAuditModel(db).findById(_id).lean<StoredAction>()))
  if (!found) throw notFound('Audit entry')
  return found
}

/** The name of the effective user; a container may run under a user id without a name. */
function effectiveUser(): string {
  const { exitCode, stdout } = Bun.spawnSync(['/usr/bin/id', '-un'], { stderr: 'ignore' })
  const name = exitCode === 0 ? stdout.toString().trim() : ''
  return name || `uid ${process.geteuid?.() ?? 'unknown'}`
}
