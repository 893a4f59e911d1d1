import { randomBytes } from 'node:crypto'
import { modelOf } from '../mongo/collections.ts'
import type { Db } from '../mongo/connection.ts'
import { retryDuplicate } from '../mongo/errors.ts'
import { schemaOf, text } from '../mongo/fields.ts'

export const developmentSecretModel = modelOf('development_secrets', schemaOf({ _id: text, value: text }))

/** The development secret of a database that was used with one, or null. */
export async function storedDevelopmentSecret(db: Db): Promise<string | null> {
  return (await developmentSecretModel(db).findById('SECRET_KEY').lean())?.value ?? null
}

/**
 * The secret of a development service without `SECRET_KEY`: created once and kept in the database, so that all its
 * processes share it. Production requires `SECRET_KEY` and never uses this.
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
