import { hostname } from 'node:os'
import { isValidObjectId, type Types } from 'mongoose'
import { notFound } from '../../core/errors.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { type AuditEntry, auditModel, type HostAuditEntry, hostAuditModel } from './model.ts'

/** The actor that performed an action: a user who ran a command, a partner's key, or the service. */
export type Actor = Pick<AuditEntry, 'user' | 'machine'> &
  Partial<Pick<AuditEntry, 'sudo_user' | 'database_user'>>

/** An action to be recorded. */
export type Action = Pick<AuditEntry, 'at' | 'action' | 'target'> & {
  /** Free text, stored in a separate field because it may contain personal data. */
  reason?: string | null
  /**
   * The host whose data the action concerns; null for actions on hosts and keys themselves, or on the data of several
   * hosts.
   */
  owner_id: number | null
  /** The actor; defaults to the user who runs this command. */
  actor?: Actor
}

/** An action that concerns one host's data. */
export type HostAction = Action & { owner_id: number }

/** Returns the audit log's `target` for a booking. */
export function bookingTarget(id: number): string {
  return `booking ${id}`
}

/** Returns a host's entries about the given targets, oldest first. */
export function findActionsOn(db: Db, ownerId: number, targets: string[]): Promise<HostAuditEntry[]> {
  return hostAuditModel(db)
    .find({ owner_id: ownerId, target: { $in: targets } })
    .sort({ at: 1 })
    .lean()
}

/** Erases the reasons of all of a host's entries about the given targets. */
export async function eraseReasons(db: Db, ownerId: number, targets: string[]): Promise<void> {
  const filter = { owner_id: ownerId, target: { $in: targets }, reason: { $ne: null } }
  await hostAuditModel(db).updateMany(filter, { $set: { reason: null } })
}

/** Returns the actor to record for a partner. */
export function partnerActor({ keyId, address }: { keyId: number; address: string }) {
  return { user: `key ${keyId}`, machine: address }
}

/** Returns the actor to record for the service itself. */
export function serviceActor() {
  return { user: 'service', machine: hostname() }
}

/** Adds an entry to the audit log, within the action's transaction if `session` is given. */
export async function recordAction(db: Db, action: Action, session: Session | null = null): Promise<void> {
  const { owner_id } = action
  if (owner_id === null) await auditModel(db).create([await entryOf(db, action)], { session })
  else await recordHostActions(db, [{ ...action, owner_id }], session)
}

/** Adds entries about hosts' data to the audit log, within the actions' transaction if `session` is given. */
export async function recordHostActions(
  db: Db,
  actions: HostAction[],
  session: Session | null,
): Promise<void> {
  const entries = await Promise.all(
    actions.map(async ({ owner_id, ...action }) => ({ owner_id, ...(await entryOf(db, action)) })),
  )
  await hostAuditModel(db).insertMany(entries, { session })
}

async function entryOf(db: Db, { at, action, target, reason = null, actor }: Omit<Action, 'owner_id'>) {
  return { at, action, target, reason, ...(actor ?? (await commandActor(db))) }
}

/** The account of each database connection, cached so that a command that affects many guests queries it only once. */
const accounts = new WeakMap<Db, Promise<string | null>>()

/**
 * Returns the actor for this command, the OS user who runs it. The name is not taken from `USER`, because anyone can
 * set that variable.
 */
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

/** An audit log entry with its id. Pass the last entry's id as `after` to list the next page. */
export type ListedAction = AuditEntry & { id: string }

/** Criteria for audit log entries. An absent field matches every entry. */
export interface AuditCriteria {
  /** Only entries older than the entry with this id. */
  after?: string | undefined
  /** Only entries at or after `since` and before `until`. */
  since?: Date | undefined
  until?: Date | undefined
}

/**
 * Returns up to `limit` matching entries of the audit log, newest first.
 *
 * @throws DomainError `not_found` if no entry has the id `after`
 */
export async function listActions(
  db: Db,
  { after, since, until }: AuditCriteria,
  limit: number,
): Promise<ListedAction[]> {
  const last = after === undefined ? null : await findAction(db, after)
  const at = { ...(since ? { $gte: since } : {}), ...(until ? { $lt: until } : {}) }
  const filter = {
    ...(Object.keys(at).length > 0 ? { at } : {}),
    // Entries with the same time are ordered by id, as in the sort below.
    ...(last ? { $or: [{ at: { $lt: last.at } }, { at: last.at, _id: { $lt: last._id } }] } : {}),
  }
  const newest = { sort: { at: -1, _id: -1 }, limit } as const
  const [general, ofHosts] = await Promise.all([
    auditModel(db).find(filter, null, newest).lean<StoredAction[]>(),
    hostAuditModel(db).find(filter, null, newest).lean<StoredAction[]>(),
  ])
  return [...general, ...ofHosts]
    .sort(
      (one, other) => other.at.getTime() - one.at.getTime() || (String(other._id) > String(one._id) ? 1 : -1),
    )
    .slice(0, limit)
    .map((entry) => ({ ...entry, id: String(entry._id) }))
}

type StoredAction = AuditEntry & { _id: Types.ObjectId }

async function findAction(db: Db, id: string): Promise<StoredAction> {
  if (!isValidObjectId(id)) throw notFound('Audit entry')
  const found =
    (await auditModel(db).findById(id).lean<StoredAction>()) ??
    (await hostAuditModel(db).findById(id).lean<StoredAction>())
  if (!found) throw notFound('Audit entry')
  return found
}

/**
 * Returns the effective user's name, or `uid` and the user id if the user has no name, as may happen in a container.
 */
function effectiveUser(): string {
  const { exitCode, stdout } = Bun.spawnSync(['/usr/bin/id', '-un'], { stderr: 'ignore' })
  const name = exitCode === 0 ? stdout.toString().trim() : ''
  return name || `uid ${process.geteuid?.() ?? 'unknown'}`
}
