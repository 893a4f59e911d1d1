import type { Clock } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { DomainError, invalidField } from '../errors.ts'
import { breaksUniqueIndex, type Db } from '../infra/mongo.ts'
import type { SecretBox } from '../infra/secret-box.ts'
import { providerKeyModel } from './model.ts'

const longestKey = 255

/** What storing a provider key did (contract, Provider key outcome). */
export type Outcome = 'created' | 'updated' | 'unchanged'

/**
 * Stores the host's key at a provider.
 *
 * @throws DomainError `validation` when it is too long; `conflict` when another account has it
 */
export async function storeProviderKey(
  { db, clock, secrets }: Pick<Deps, 'db' | 'clock' | 'secrets'>,
  hostId: number,
  provider: string,
  sent: string,
): Promise<Outcome> {
  const key = sent.trim()
  if (key.length > longestKey) {
    throw invalidField(
      'provider_api_key',
      `"provider_api_key" must be at most ${longestKey} characters`,
      'max',
    )
  }
  const fingerprints = secrets.fingerprints(key)
  const holders = await providerKeyModel(db)
    .find({ provider, fingerprint: { $in: fingerprints } })
    .lean()
  if (holders.some(({ host_id }) => host_id !== hostId)) throw usedByAnother()
  if (holders.length > 0) return 'unchanged'
  const values = { ...secrets.seal(key), fingerprint: secrets.fingerprint(key), updated_at: clock() }
  try {
    const before = await providerKeyModel(db)
      .findOneAndUpdate({ host_id: hostId, provider }, { $set: values }, { upsert: true, new: false })
      .lean()
    return before ? 'updated' : 'created'
  } catch (error) {
    if (breaksUniqueIndex(error, 'provider_key_fingerprint')) throw usedByAnother()
    // Two first writes of one host met: the second finds the document now.
    if (breaksUniqueIndex(error, 'provider_key_host'))
      return storeProviderKey({ db, clock, secrets }, hostId, provider, key)
    throw error
  }
}

function usedByAnother(): DomainError {
  return new DomainError('conflict', 'The provider key is already used by another account')
}

/** Encrypts every stored key that is not under the current secret again; gives how many there were. */
export async function reencryptProviderKeys(db: Db, clock: Clock, secrets: SecretBox): Promise<number> {
  let count = 0
  for await (const stored of providerKeyModel(db).find().lean().cursor()) {
    if (secrets.isCurrent(stored)) continue
    const key = secrets.open(stored)
    const values = { ...secrets.seal(key), fingerprint: secrets.fingerprint(key), updated_at: clock() }
    // Only what was read: a key stored meanwhile is under the current secret already.
    const { modifiedCount } = await providerKeyModel(db).updateOne(
      { host_id: stored.host_id, provider: stored.provider, sealed: stored.sealed },
      { $set: values },
    )
    count += modifiedCount
  }
  return count
}
