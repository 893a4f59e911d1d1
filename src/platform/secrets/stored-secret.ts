import { randomBytes } from 'node:crypto'
import { modelOf } from '../mongo/collections.ts'
import type { Db } from '../mongo/connection.ts'
import { retryDuplicate } from '../mongo/errors.ts'
import { schemaOf, text } from '../mongo/fields.ts'
import type { SecretBox } from './secret-box.ts'

/** `_id` is what it is for. */
export const storedSecretModel = modelOf(
  'stored_secrets',
  schemaOf({ _id: text, secret_id: text, sealed: text }),
)

/**
 * A secret of the database itself, made once and stored encrypted: what is hashed with it is found by every process, also
 * while `SECRET_KEY` is being rotated, when two processes would hash with two.
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
