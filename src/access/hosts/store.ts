import type { Clock } from '../../core/clock.ts'
import { shownEmail } from '../../core/email.ts'
import { invalidField, notFound } from '../../core/errors.ts'
import { startHostClock } from '../../host-clock/store.ts'
import { nextIds } from '../../platform/ids/sequences.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { breaksUniqueIndex } from '../../platform/mongo/errors.ts'
import { emailKey } from '../../platform/mongo/index-key.ts'
import { type Host, hostEmailIndex, hostModel } from './model.ts'

/**
 * Creates a host account.
 *
 * @throws DomainError `validation` at `email` if another host has this e-mail address
 */
export async function createHost(
  db: Db,
  clock: Clock,
  input: { name: string; email: string },
): Promise<Host> {
  const host: Host = {
    id: await nextIds(db, 'host'),
    name: input.name.trim(),
    email: shownEmail(input.email),
    email_key: emailKey(input.email),
    created_at: clock(),
    last_login_at: null,
    suspended_at: null,
  }
  await startHostClock(db, host.id)
  await hostModel(db).create(host).catch(refuseTakenAddress)
  return host
}

function refuseTakenAddress(error: unknown): never {
  if (breaksUniqueIndex(error, hostEmailIndex))
    throw invalidField('email', 'Another host has this e-mail address')
  throw error
}

/**
 * Changes a host's name or e-mail address.
 *
 * @throws DomainError `not_found`; `validation` at `email` if another host has this e-mail address
 */
export async function updateHost(
  db: Db,
  idOrEmail: string | number,
  { name, email }: { name?: string | undefined; email?: string | undefined },
): Promise<Host> {
  const { id } = await findHost(db, idOrEmail)
  const change = {
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(email === undefined ? {} : { email: shownEmail(email), email_key: emailKey(email) }),
  }
  return hostModel(db)
    .findOneAndUpdate({ id }, { $set: change }, { new: true })
    .lean()
    .orFail()
    .catch(refuseTakenAddress)
}

/**
 * Suspends or resumes a host. A host that is already suspended keeps its original suspension time.
 *
 * @param at time of the suspension; null resumes the host
 * @throws DomainError `not_found`
 */
export async function setHostSuspended(db: Db, idOrEmail: string | number, at: Date | null): Promise<Host> {
  const { id } = await findHost(db, idOrEmail)
  const notYet = at === null ? {} : { suspended_at: null }
  await hostModel(db).updateOne({ id, ...notYet }, { $set: { suspended_at: at } })
  return findHost(db, id)
}

/** Returns up to `limit` hosts with ids greater than `after`, ordered by id. */
export async function listHosts(db: Db, { after, limit }: { after: number; limit: number }): Promise<Host[]> {
  return hostModel(db)
    .find({ id: { $gt: after } })
    .sort({ id: 1 })
    .limit(limit)
    .lean()
}

/** Returns the given ids that belong to suspended hosts. */
export async function findSuspendedHostIds(db: Db, ids: number[]): Promise<number[]> {
  const suspended = { id: { $in: ids }, suspended_at: { $ne: null } }
  return (await hostModel(db).collection.find<Host>(suspended).toArray()).map(({ id }) => id)
}

/**
 * Returns the host with this id or e-mail address.
 *
 * @throws DomainError `not_found`
 */
export async function findHost(db: Db, idOrEmail: string | number): Promise<Host> {
  const text = String(idOrEmail).trim()
  const isId = /^\d+$/.test(text)
  const filter = isId ? { id: Number(text) } : { email_key: emailKey(text) }
  const host = await hostModel(db).findOne(filter).lean()
  if (!host) throw notFound('Host', isId ? 'id' : 'e-mail address')
  return host
}
