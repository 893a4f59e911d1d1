import type { Clock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { isDuplicate } from '../../platform/mongo/errors.ts'
import type { SecretBox } from '../../platform/secrets/secret-box.ts'
import { type ProviderKey, providerKeyModel } from './model.ts'
import type { Outcome } from './schema.ts'

/** Outcome of an attempt that must be repeated because a concurrent request finished first. */
const retry = Symbol('retry')

/** A provider key to store. */
interface SentProviderKey {
  ownerId: number
  provider: string
  key: string
  /** True if the key must be unique only within the sandbox that owns it; otherwise, among all accounts. */
  isSandbox: boolean
}

/**
 * Stores a host's provider key. If identical requests run concurrently, one stores the key, and the others find it
 * already stored.
 *
 * @throws DomainError `conflict` if another account uses the key
 */
export async function storeProviderKey(
  app: Pick<AppContext, 'db' | 'clock' | 'secrets'>,
  { ownerId, provider, key, isSandbox }: SentProviderKey,
): Promise<Outcome> {
  const fingerprinted = isSandbox ? `${ownerId}/${key}` : key
  for (;;) {
    const outcome = await tryToStore(app, { owner_id: ownerId, provider }, key, fingerprinted)
    if (outcome !== retry) return outcome
  }
}

async function tryToStore(
  { db, clock, secrets }: Pick<AppContext, 'db' | 'clock' | 'secrets'>,
  owner: Pick<ProviderKey, 'owner_id' | 'provider'>,
  key: string,
  fingerprinted: string,
): Promise<Outcome | typeof retry> {
  const fingerprints = secrets.fingerprints(fingerprinted)
  const [own, holder] = await Promise.all([
    providerKeyModel(db).findOne(owner).lean(),
    providerKeyModel(db)
      .findOne({
        provider: owner.provider,
        fingerprint: { $in: fingerprints },
        owner_id: { $ne: owner.owner_id },
      })
      .lean(),
  ])
  if (holder) throw usedByAnother()
  if (own && fingerprints.includes(own.fingerprint)) return 'unchanged'
  const values = {
    ...secrets.seal(key),
    fingerprint: secrets.fingerprint(fingerprinted),
    updated_at: clock(owner.owner_id),
  }
  try {
    if (!own) {
      await providerKeyModel(db).create([{ ...owner, ...values }])
      return 'created'
    }
    // The filter matches only the key that was read, because a concurrent request may have replaced it.
    const seen = { ...owner, fingerprint: own.fingerprint }
    const { modifiedCount } = await providerKeyModel(db).updateOne(seen, { $set: values })
    return modifiedCount === 1 ? 'updated' : retry
  } catch (error) {
    // Either this host or another account has just stored the key. The next attempt determines which.
    if (isDuplicate(error)) return retry
    throw error
  }
}

/** Returns the 409 error for a provider key that another account has stored (contract, provider-key). */
export function usedByAnother(): DomainError {
  return new DomainError('conflict', 'The provider key is already used by another account')
}

/** Returns true if any provider key is encrypted with a secret that is not in `secretIds`. */
export async function hasKeysUnderOthers(db: Db, secretIds: string[]): Promise<boolean> {
  return (await providerKeyModel(db).exists({ secret_id: { $nin: secretIds } })) !== null
}

/**
 * Re-encrypts every stored key that is not encrypted with the current secret. Returns the number of re-encrypted keys.
 */
export async function reencryptProviderKeys(db: Db, clock: Clock, secrets: SecretBox): Promise<number> {
  let count = 0
  for await (const stored of providerKeyModel(db).find().lean().cursor()) {
    if (secrets.isCurrent(stored)) continue
    const key = secrets.open(stored)
    const values = {
      ...secrets.seal(key),
      fingerprint: secrets.fingerprint(key),
      updated_at: clock(),
    }
    // The filter matches only the key that was read, because a key stored since then is already encrypted with the
    // current secret.
    const { modifiedCount } = await providerKeyModel(db).updateOne(
      { owner_id: stored.owner_id, provider: stored.provider, sealed: stored.sealed },
      { $set: values },
    )
    count += modifiedCount
  }
  return count
}
