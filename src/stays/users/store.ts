import { invalidField } from '../../core/errors.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { breaksUniqueIndex } from '../../platform/mongo/errors.ts'
import { indexKey } from '../../platform/mongo/index-key.ts'
import { emailIndex, type StoredUser, userModel } from './model.ts'

/** The user of this host with this id, or null. */
export async function findUserIfAny(db: Db, hostId: number, id: number): Promise<StoredUser | null> {
  return userModel(db).collection.findOne<StoredUser>({ host_id: hostId, id })
}

/**
 * Refuses an address that a user of this host already has.
 *
 * @throws DomainError `validation` at `email`
 */
export async function requireFreeEmail(db: Db, hostId: number, email: string): Promise<void> {
  const taken = { host_id: hostId, email_key: indexKey(email) }
  if (await userModel(db).collection.findOne(taken, { projection: { _id: 1 } })) throw emailTaken()
}

/**
 * Stores a new user.
 *
 * @throws DomainError `validation` at `email` when another user of this host has it
 */
export async function insertUser(db: Db, session: Session, user: StoredUser): Promise<void> {
  try {
    await userModel(db).collection.insertOne({ ...user }, { session })
  } catch (error) {
    throw breaksUniqueIndex(error, emailIndex) ? emailTaken() : error
  }
}

function emailTaken() {
  return invalidField('email', 'A user with this "email" already exists')
}
