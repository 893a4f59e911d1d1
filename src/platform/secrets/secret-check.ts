import { modelOf } from '../mongo/collections.ts'
import type { Db } from '../mongo/connection.ts'
import { retryDuplicate } from '../mongo/errors.ts'
import { field, schemaOf } from '../mongo/fields.ts'
import type { Sealed, SecretBox } from './secret-box.ts'

/** A known text, encrypted under the database's secret. It reveals whether a process has the right secret. */
interface SecretCheck extends Sealed {
  _id: 'secret'
}

export const secretCheckModel = modelOf<SecretCheck>(
  'secret_check',
  schemaOf({
    _id: field.text,
    secret_id: field.text,
    sealed: field.text,
  }),
)

const checkedText = 'The secret is the right one'

/**
 * Requires that `secrets` includes the database's secret. The first process to call this determines that secret.
 *
 * @param isUsed returns true if the database already holds values encrypted under secrets other than these
 * @throws Error that names the settings, if `secrets` does not include that secret
 */
export async function requireRightSecret(
  db: Db,
  secrets: SecretBox,
  isUsed: () => Promise<boolean>,
): Promise<void> {
  const known = await secretCheckModel(db).findById('secret').lean()
  if (!known && (await isUsed())) throw wrongSecret()
  const check =
    known ??
    (await retryDuplicate(() =>
      secretCheckModel(db)
        .findByIdAndUpdate('secret', { $setOnInsert: secrets.seal(checkedText) }, { upsert: true, new: true })
        .lean()
        .orFail(),
    ))
  if (!secrets.knows(check) || secrets.open(check) !== checkedText) throw wrongSecret()
}

/**
 * Requires that the database has never been used with a `SECRET_KEY`.
 *
 * @throws Error that names the setting, if the database was used with one
 */
export async function requireNoSecret(db: Db): Promise<void> {
  if (await secretCheckModel(db).exists({ _id: 'secret' }))
    throw new Error(
      'SECRET_KEY is not set, but this database was used with one: set SECRET_KEY to that secret',
    )
}

/** Makes the current secret the database's secret, which {@link requireRightSecret} checks. */
export async function moveSecretCheck(db: Db, secrets: SecretBox): Promise<void> {
  await secretCheckModel(db).updateOne(
    { _id: 'secret' },
    { $set: secrets.seal(checkedText) },
    { upsert: true },
  )
}

function wrongSecret(): Error {
  return new Error(
    'SECRET_KEY is not the secret of this database: set the right one, and during a rotation OTHER_SECRET_KEYS as well',
  )
}
