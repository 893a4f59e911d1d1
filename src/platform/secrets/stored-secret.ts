import { randomBytes } from 'node:crypto'
import { modelOf } from '../mongo/collections.ts'
import type { Db } from '../mongo/connection.ts'
import { retryDuplicate } from '../mongo/errors.ts'
import { field, schemaOf } from '../mongo/fields.ts'
import type { SecretBox } from './secret-box.ts'

/** Secrets that belong to the database. The `_id` names the purpose of each secret. */
export const storedSecretModel = modelOf(
  'stored_secrets',
  schemaOf({ _id: field.text, secret_id: field.text, sealed: field.text }),
)

/**
 * Returns a secret that belongs to the database. It is created on first use and stored encrypted. Unlike hashes under
 * `SECRET_KEY`, hashes under this secret are the same in all processes even during a rotation of `SECRET_KEY`.
 */
export async function storedSecret(db: Db, secrets: SecretBox, name: string): Promise<string> {
  const fresh = secrets.seal(randomBytes(32).toString('base64url'))
  const stored = await retryDuplicate(() =>
    storedSecretModel(db)
      .findByIdAndUpdate(name, { $setOnInsert: fresh }, { upsert: true, new: true })
      .lean()
      .orFail(),
  )
  return secrets.open(stored)
}

export const developmentSecretModel = modelOf(
  'development_secrets',
  schemaOf({ _id: field.text, value: field.text }),
)

/** Returns the database's development secret; null if the database has none. */
export async function storedDevelopmentSecret(db: Db): Promise<string | null> {
  return (await developmentSecretModel(db).findById('SECRET_KEY').lean())?.value ?? null
}

/**
 * Returns the secret that a development service uses if `SECRET_KEY` is not set. The secret is created on first use and
 * stored in the database, so that all processes of the service share it. Production requires `SECRET_KEY` and never
 * calls this function.
 */
export async function developmentSecret(db: Db): Promise<string> {
  const value = randomBytes(32).toString('base64url')
  const secret = await retryDuplicate(() =>
    developmentSecretModel(db)
      .findOneAndUpdate({ _id: 'SECRET_KEY' }, { $setOnInsert: { value } }, { upsert: true, new: true })
      .lean()
      .orFail(),
  )
  return secret.value
}
