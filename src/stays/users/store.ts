import type { PipelineStage } from 'mongoose'
import { invalidField, notFound } from '../../core/errors.ts'
import { type PageRequest, skipOf } from '../../http/input/pagination.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { breaksUniqueIndex } from '../../platform/mongo/errors.ts'
import { emailKey } from '../../platform/mongo/index-key.ts'
import { lookUpById, ofOwner } from '../../platform/mongo/look-up.ts'
import { erasedPerson, erasedUserId } from './erased.ts'
import { emailIndex, type StoredUser, userModel } from './model.ts'

const lookUpUser = lookUpById<StoredUser>(userModel)

/** Returns the host's user with this id, or null if there is none. */
export function findUserIfAny(db: Db, ownerId: number, id: number): Promise<StoredUser | null> {
  return lookUpUser(db, { owner_id: ownerId, id })
}

/** Returns the host's users with these ids, in no particular order. */
export function findUsers(db: Db, ownerId: number, ids: number[]): Promise<StoredUser[]> {
  return userModel(db)
    .collection.find<StoredUser>({ owner_id: ownerId, id: { $in: ids } })
    .toArray()
}

/** What a booking's detail shows of its guest. */
export type ShownGuest = Pick<StoredUser, 'name' | 'email' | 'phone' | 'country' | 'language'>

/** Returns the stage that adds its guest to each booking, as a list of {@link ShownGuest} with at most one item. */
export function joinGuests(db: Db, as: string): PipelineStage.Lookup {
  return {
    $lookup: {
      from: userModel(db).collection.name,
      let: { owner: '$owner_id', user: '$user_id' },
      pipeline: [
        { $match: ofOwner('$$user') },
        { $project: { _id: 0, name: 1, email: 1, phone: 1, country: 1, language: 1 } },
      ],
      as,
    },
  }
}

/**
 * Returns the host's user with this id.
 *
 * @throws DomainError `not_found`, including for an undefined id
 */
export async function findUser(db: Db, ownerId: number, id: number | undefined): Promise<StoredUser> {
  const user = id ? await findUserIfAny(db, ownerId, id) : null
  if (!user) throw notFound('User')
  return user
}

/**
 * Returns one page of a host's users, ordered by id, and the total number of matching users. Erased users are excluded,
 * and users whose erasure has started are no longer found by e-mail address (decisions §27).
 *
 * @param email address of the user to find, in any spelling
 */
export async function listUsers(
  db: Db,
  ownerId: number,
  email: string | undefined,
  page: PageRequest,
): Promise<{ rows: StoredUser[]; total: number }> {
  const matching =
    email === undefined ? { erased_at: null } : { email_key: emailKey(email), erasing_at: null }
  const filter = { owner_id: ownerId, ...matching }
  const { collection } = userModel(db)
  const [total, rows] = await Promise.all([
    collection.countDocuments(filter),
    collection.find<StoredUser>(filter).sort({ id: 1 }).skip(skipOf(page)).limit(page.perPage).toArray(),
  ])
  return { rows, total }
}

/**
 * Returns one page of a host's users whose erasure started after a given time, ordered by that time and then id, and the
 * total number of them (decisions §26). All of them are in the erased form, even while their data is being overwritten.
 *
 * @param email address of an erased guest; nobody is found by the address that a guest had before
 */
export async function listErasedUsers(
  db: Db,
  ownerId: number,
  { email, after }: { email: string | undefined; after: Date },
  page: PageRequest,
): Promise<{ rows: StoredUser[]; total: number }> {
  const id = email === undefined ? undefined : erasedUserId(email)
  if (id === null) return { rows: [], total: 0 }
  const filter = { owner_id: ownerId, erasing_at: { $gt: after }, ...(id === undefined ? {} : { id }) }
  const { collection } = userModel(db)
  const [total, rows] = await Promise.all([
    collection.countDocuments(filter),
    collection
      .find<StoredUser>(filter)
      .sort({ erasing_at: 1, id: 1 })
      .skip(skipOf(page))
      .limit(page.perPage)
      .toArray(),
  ])
  return { rows: rows.map(inErasedForm), total }
}

/** Returns a user as the erasure leaves it, also if the erasure has only started. */
function inErasedForm(user: StoredUser): StoredUser {
  return { ...user, ...erasedPerson(user.id), erased_at: user.erasing_at }
}

/**
 * Rejects an address that one of the host's users already has.
 *
 * @throws DomainError `validation` at `email`
 */
export async function requireFreeEmail(db: Db, ownerId: number, email_key: string): Promise<void> {
  const taken = { owner_id: ownerId, email_key }
  if (await userModel(db).collection.findOne(taken, { projection: { _id: 1 } })) throw emailTaken()
}

/**
 * Stores a new user.
 *
 * @throws DomainError `validation` at `email` if another user of this host has the address
 */
export async function insertUser(db: Db, session: Session, user: StoredUser): Promise<void> {
  try {
    await userModel(db).collection.insertOne({ ...user }, { session })
  } catch (error) {
    throw breaksUniqueIndex(error, emailIndex) ? emailTaken() : error
  }
}

/**
 * Rejects users of whom any is being erased. Call this within the transaction of any write that stores data about the
 * users. The write and the erasure both advance the host's clock first, so the later of the two sees the other.
 *
 * @throws DomainError `validation` at `user_id`
 */
export async function requireNotErased(
  db: Db,
  session: Session,
  ownerId: number,
  ids: number[],
): Promise<void> {
  const filter = { owner_id: ownerId, id: { $in: ids }, erasing_at: { $ne: null } }
  if (await userModel(db).collection.findOne(filter, { session, projection: { _id: 1 } })) throw erased()
}

/** Returns the error for a booking whose guest has been erased. */
function erased() {
  return invalidField('user_id', '"user_id" is an erased guest')
}

/** Returns the users with this e-mail address, in any spelling, across all hosts, for administrators. */
export function findUsersByEmail(db: Db, email: string): Promise<StoredUser[]> {
  return userModel(db)
    .find({ email_key: emailKey(email) })
    .sort({ owner_id: 1, id: 1 })
    .lean()
}

/**
 * Returns the user with this id from any host, for administrators.
 *
 * @throws DomainError `not_found`
 */
export async function findUserOfAnyHost(db: Db, id: number): Promise<StoredUser> {
  const [user] = await userModel(db).find({ id }).limit(1).lean()
  if (!user) throw notFound('User')
  return user
}

/**
 * Returns up to `limit` users of one host or all hosts whose ids are greater than `after`, ordered by id. Erased users
 * are excluded.
 */
export function findUsersAfter(
  db: Db,
  { ownerId, after, limit }: { ownerId: number | undefined; after: number; limit: number },
): Promise<StoredUser[]> {
  const filter = {
    ...(ownerId === undefined ? {} : { owner_id: ownerId }),
    id: { $gt: after },
    erased_at: null,
  }
  return userModel(db).find(filter).sort({ id: 1 }).limit(limit).lean()
}

/**
 * Records that a user's erasure has started, unless that was already recorded. Returns the recorded time, which is the
 * time of the whole erasure. Call this after the transaction has advanced the host's clock.
 *
 * Unless it is repeated, an erasure is later than every earlier one of its host, also if the clocks of two processes
 * differ. Otherwise, a partner that reads the erasures after the last one it knows would miss one of the same moment.
 *
 * @param at time of an earlier erasure that is repeated
 */
export async function markErasing(
  db: Db,
  session: Session,
  { owner_id, id }: Pick<StoredUser, 'owner_id' | 'id'>,
  { at, now }: { at: Date | undefined; now: Date },
): Promise<Date> {
  const { collection } = userModel(db)
  const options = { session, projection: { _id: 0, erasing_at: 1 } }
  const user = await collection.findOne<Pick<StoredUser, 'erasing_at'>>({ owner_id, id }, options)
  if (user?.erasing_at) return user.erasing_at
  const marked = at ?? (await nextErasure(db, session, owner_id, now))
  await collection.updateOne({ owner_id, id }, { $set: { erasing_at: marked } }, { session })
  return marked
}

/** Returns the present time or, if the host's latest erasure is not earlier, the millisecond after it. */
async function nextErasure(db: Db, session: Session, owner_id: number, now: Date): Promise<Date> {
  const started = { owner_id, erasing_at: { $ne: null } }
  const options = { session, sort: { erasing_at: -1 }, projection: { _id: 0, erasing_at: 1 } } as const
  const latest = await userModel(db).collection.findOne<Pick<StoredUser, 'erasing_at'>>(started, options)
  const earliest = (latest?.erasing_at?.getTime() ?? 0) + 1
  return new Date(Math.max(now.getTime(), earliest))
}

/**
 * Overwrites a user's personal data, unless it has already been overwritten.
 *
 * @param at time of the erasure
 */
export async function overwriteUser(
  db: Db,
  { owner_id, id }: Pick<StoredUser, 'owner_id' | 'id'>,
  { at, now }: { at: Date; now: Date },
): Promise<void> {
  const person = erasedPerson(id)
  const change = {
    ...person,
    email_key: emailKey(person.email),
    password_hash: null,
    updated_at: now,
    erased_at: at,
  }
  await userModel(db).collection.updateOne({ owner_id, id, erased_at: null }, { $set: change })
}

function emailTaken() {
  return invalidField('email', 'A user with this "email" already exists')
}
