import { noActivity } from '../../activity/stored-fields.ts'
import type { Clock } from '../../core/clock.ts'
import { DomainError, notFound } from '../../core/errors.ts'
import type { Permission } from '../../http/permissions.ts'
import { nextIds } from '../../platform/ids/sequences.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findHost } from '../hosts/store.ts'
import { type ApiKey, keyModel } from './model.ts'
import { createApiKey, hashApiKey, shownLength } from './secret.ts'
import { keyStatus } from './status.ts'

export interface NewKey {
  host: string | number
  name: string
  permissions: Permission[]
  expiresAt?: Date | null
  rateLimit?: number | null
  /**
   * Networks from which the key is accepted, in CIDR notation; absent or empty if the key is accepted from anywhere.
   */
  allowedFrom?: string[]
}

/** A key's record together with the key itself, which cannot be shown again. */
export interface MintedKey {
  key: string
  record: ApiKey
}

/**
 * Mints a key for a host.
 *
 * @throws DomainError `not_found` for an unknown host
 */
export async function mintKey(db: Db, clock: Clock, input: NewKey): Promise<MintedKey> {
  const host = await findHost(db, input.host)
  const key = createApiKey()
  const record: ApiKey = {
    id: await nextIds(db, 'key'),
    host_id: host.id,
    name: input.name,
    permissions: input.permissions,
    secrets: [toSecret(key)],
    active: true,
    revoked_at: null,
    expires_at: input.expiresAt ?? null,
    rate_limit: input.rateLimit ?? null,
    allowed_from: input.allowedFrom ?? [],
    usage_count: 0,
    last_used_at: null,
    ...noActivity,
    addresses: [],
    created_at: clock(),
  }
  await keyModel(db).create(record)
  return { key, record }
}

function toSecret(key: string) {
  return { hash: hashApiKey(key), prefix: key.slice(0, shownLength), expires_at: null }
}

/** Returns up to `limit` keys with ids greater than `after`, ordered by id. */
export async function listKeys(
  db: Db,
  { after, limit }: { after: number; limit: number },
): Promise<ApiKey[]> {
  return keyModel(db)
    .find({ id: { $gt: after } })
    .sort({ id: 1 })
    .limit(limit)
    .lean()
}

/** Returns the key that has a secret with this hash, without how its writes end, or null if no key has one. */
export async function findKeyByHash(db: Db, hash: string): Promise<ApiKey | null> {
  return keyModel(db).findOne({ 'secrets.hash': hash }, { writes: 0 }).lean()
}

/** Returns the stored key with this id, which must exist. */
export async function findKeyById(db: Db, id: number): Promise<ApiKey> {
  return keyModel(db).findOne({ id }).lean().orFail()
}

/** Returns the keys with these ids. */
export function findKeysByIds(db: Db, ids: number[]): Promise<ApiKey[]> {
  return keyModel(db)
    .collection.find<ApiKey>({ id: { $in: ids } })
    .toArray()
}

/** The fields that say whether a key is usable. */
export type KeyState = Pick<ApiKey, 'id' | 'host_id' | 'permissions' | 'active' | 'revoked_at' | 'expires_at'>
const stateFields = { _id: 0, id: 1, host_id: 1, permissions: 1, active: 1, revoked_at: 1, expires_at: 1 }

/** Returns the state of the keys with these ids. */
export function findKeyStates(db: Db, ids: number[]): Promise<KeyState[]> {
  return keyModel(db)
    .collection.find<KeyState>({ id: { $in: ids } }, { projection: stateFields })
    .toArray()
}

/** Returns all keys of a host. */
export function findKeysOfHost(db: Db, hostId: number): Promise<ApiKey[]> {
  return keyModel(db).find({ host_id: hostId }).lean()
}

/** Returns the keys that have a permission and are neither revoked nor expired, ordered by id. */
export async function findKeysWith(db: Db, permission: Permission, now: Date): Promise<ApiKey[]> {
  const keys = await keyModel(db).find({ permissions: permission }).sort({ id: 1 }).lean()
  return keys.filter((key) => isUnexpired(key, now))
}

/** Returns true for a key that is neither revoked nor expired. */
function isUnexpired(key: ApiKey, now: Date): boolean {
  return ['active', 'inactive'].includes(keyStatus(key, now))
}

/**
 * Ends the running overlaps of all rotated keys, so that only each key's latest secret works. Returns the number of
 * keys that had an overlap.
 */
export async function endOverlaps(db: Db, now: Date): Promise<number> {
  const lasting = { expires_at: { $gt: now } }
  const { modifiedCount } = await keyModel(db).updateMany(
    { secrets: { $elemMatch: lasting } },
    { $set: { 'secrets.$[previous].expires_at': now } },
    { arrayFilters: [{ 'previous.expires_at': lasting.expires_at }] },
  )
  return modifiedCount
}

/** Returns the ids of the keys that expire after `after` and no later than `until`. */
export async function findExpiredKeyIds(db: Db, after: Date, until: Date): Promise<number[]> {
  const expired = { expires_at: { $gt: after, $lte: until } }
  return (await keyModel(db).find(expired, { id: 1 }).lean()).map(({ id }) => id)
}

/** Returns the given ids that belong to keys that are neither revoked nor expired. */
export async function findUnexpiredKeyIds(db: Db, ids: number[], now: Date): Promise<Set<number>> {
  const keys = await findKeysByIds(db, ids)
  return new Set(keys.filter((key) => isUnexpired(key, now)).map(({ id }) => id))
}

/** Returns the earliest time at which a working key expires; null if no working key will expire. */
export async function findNextKeyExpiry(db: Db, now: Date): Promise<Date | null> {
  const working = { active: true, revoked_at: null, expires_at: { $gt: now } }
  const next = await keyModel(db).findOne(working, { expires_at: 1 }).sort({ expires_at: 1 }).lean()
  return next?.expires_at ?? null
}

/**
 * Returns the key with this id, or the key with a secret that starts with these 12 characters.
 *
 * @throws DomainError `not_found`; `conflict` if several keys match
 */
export async function findKey(db: Db, idOrPrefix: string): Promise<ApiKey> {
  const text = idOrPrefix.trim()
  const isId = /^\d+$/.test(text)
  const filter = isId ? { id: Number(text) } : { 'secrets.prefix': text.slice(0, shownLength) }
  const [key, other] = await keyModel(db).find(filter).limit(2).lean()
  if (!key) throw notFound('Key', isId ? 'id' : 'prefix')
  if (other) throw new DomainError('conflict', 'Several keys start with these characters; use the id')
  return key
}

/** A key's record after a new secret was added, together with the new key and the hashes of the secrets it replaces. */
export interface AddedSecret extends MintedKey {
  previous: string[]
}

/**
 * Gives a key a new secret. The previous secrets stay as they are until {@link endSecrets} is called, so that the new
 * one can be shown first. If it is never called, all of them work, and the next rotation ends them.
 *
 * The rate limit, sandbox, usage and stored responses belong to the key rather than the secret, so a retry with the new
 * secret is still recognized as a retry.
 *
 * @throws DomainError `not_found`; `conflict` for a revoked key
 */
export async function addSecret(db: Db, idOrPrefix: string): Promise<AddedSecret> {
  const { id } = await findKey(db, idOrPrefix)
  const key = createApiKey()
  const change = { $push: { secrets: { $each: [toSecret(key)], $position: 0 } } }
  const record = await keyModel(db).findOneAndUpdate({ id, revoked_at: null }, change, { new: true }).lean()
  if (!record) throw new DomainError('conflict', 'A revoked key cannot be rotated; mint a new one')
  const previous = record.secrets.slice(1).map(({ hash }) => hash)
  return { key, record, previous }
}

/** Sets the time at which those of a key's secrets expire that have no end yet. */
export async function endSecrets(db: Db, id: number, hashes: string[], at: Date): Promise<void> {
  await keyModel(db).updateOne(
    { id },
    { $set: { 'secrets.$[previous].expires_at': at } },
    { arrayFilters: [{ 'previous.hash': { $in: hashes }, 'previous.expires_at': null }] },
  )
}

/** Takes back a secret that {@link addSecret} has added. The key's other secrets keep working. */
export async function removeSecret(db: Db, id: number, key: string): Promise<void> {
  await keyModel(db).updateOne({ id }, { $pull: { secrets: { hash: hashApiKey(key) } } })
}

/** Revokes a key permanently. Revoking a revoked key changes nothing. */
export async function revokeKey(db: Db, clock: Clock, idOrPrefix: string): Promise<ApiKey> {
  const found = await findKey(db, idOrPrefix)
  return found.revoked_at ? found : change(db, found.id, { active: false, revoked_at: clock() })
}

/** The fields of a key that an administrator can change; absent fields stay unchanged. */
export type KeyChange = Partial<
  Pick<ApiKey, 'name' | 'permissions' | 'active' | 'rate_limit' | 'expires_at' | 'allowed_from'>
>

/**
 * Changes a key.
 *
 * @throws DomainError `not_found`; `conflict` for a revoked key
 */
export async function updateKey(db: Db, idOrPrefix: string, values: KeyChange): Promise<ApiKey> {
  const found = await findKey(db, idOrPrefix)
  if (found.revoked_at) throw new DomainError('conflict', 'A revoked key cannot be changed; mint a new one')
  return change(db, found.id, values)
}

async function change(db: Db, id: number, values: Partial<ApiKey>): Promise<ApiKey> {
  return keyModel(db).findOneAndUpdate({ id }, { $set: values }, { new: true }).lean().orFail()
}

/** A key's usage as counted by one process since its last flush. */
export interface KeyUsage {
  count: number
  lastUsedAt: Date
  /** The most recent client addresses, each with the time of its last request; the most recent one comes last. */
  addresses: Map<string, Date>
}

/** Number of client addresses that are kept of a key. */
export const keptAddresses = 20

/** Adds the usage of several keys, with two database writes per key regardless of the number of requests. */
export async function addKeyUsage(db: Db, usage: Map<number, KeyUsage>): Promise<void> {
  const operations = [...usage].flatMap(([id, seen]) => {
    const addresses = [...seen.addresses].map(([address, last_used_at]) => ({ address, last_used_at }))
    const known = addresses.map(({ address }) => address)
    return [
      { updateOne: { filter: { id }, update: { $pull: { addresses: { address: { $in: known } } } } } },
      {
        updateOne: {
          filter: { id },
          update: {
            $inc: { usage_count: seen.count },
            $max: { last_used_at: seen.lastUsedAt },
            $push: { addresses: { $each: addresses, $sort: { last_used_at: -1 }, $slice: keptAddresses } },
          },
        },
      },
    ]
  })
  // biome-ignore lint/suspicious/noExplicitAny: mongoose cannot type $push with $each on an array of objects
  if (operations.length > 0) await keyModel(db).bulkWrite(operations as any)
}
