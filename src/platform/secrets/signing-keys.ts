import type { JWK } from 'jose'
import { modelOf } from '../mongo/collections.ts'
import type { Db } from '../mongo/connection.ts'
import { field, schemaOf } from '../mongo/fields.ts'
import type { SecretBox } from './secret-box.ts'

const fields = {
  /** The key's id, which is the public key's thumbprint. */
  _id: field.text,
  public_jwk: field.mixed<JWK>(),
  /** Id of the secret that encrypts the private key in `sealed`. */
  secret_id: field.text,
  sealed: field.text,
  created_at: field.moment,
}

export const signingKeyModel = modelOf('signing_keys', schemaOf(fields))

const algorithm = 'EdDSA'

/** Returns the public keys of all signing keys ever created, latest first. */
export async function publicSigningKeys(db: Db): Promise<JWK[]> {
  const keys = await signingKeyModel(db).find({}, { public_jwk: 1 }).sort({ created_at: -1 }).lean()
  return keys.map(({ public_jwk }) => public_jwk)
}

/**
 * Returns the id, algorithm and private key of the latest signing key that is encrypted under a known secret. All
 * processes therefore sign with the same key. Creates a signing key if there is none.
 */
export async function signingKey(db: Db, secrets: SecretBox, now: Date) {
  const newest = () =>
    signingKeyModel(db)
      .findOne({ secret_id: { $in: secrets.ids } })
      .sort({ created_at: -1 })
      .lean()
  const found = (await newest()) ?? (await makeSigningKey(db, secrets, now).then(newest))
  if (!found) throw new Error('There is no signing key')
  const { importPKCS8 } = await import('jose')
  return { kid: found._id, algorithm, privateKey: await importPKCS8(secrets.open(found), algorithm) }
}

/** Creates and stores a signing key. If two processes do so concurrently, both keys are kept and the later is used. */
async function makeSigningKey(db: Db, secrets: SecretBox, created_at: Date): Promise<void> {
  // Loaded only here, because few services ever sign a report.
  const { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair } = await import('jose')
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { crv: 'Ed25519', extractable: true })
  const jwk = await exportJWK(publicKey)
  const _id = await calculateJwkThumbprint(jwk)
  const public_jwk = { ...jwk, kid: _id, alg: algorithm, use: 'sig' }
  await signingKeyModel(db).create([
    { _id, public_jwk, ...secrets.seal(await exportPKCS8(privateKey)), created_at },
  ])
}
