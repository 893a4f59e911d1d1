import { toTimestamp } from '../../core/clock.ts'
import { shownEmail } from '../../core/email.ts'
import { invalidField } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import { canonicalLanguage, canonicalTimeZone } from '../../http/input/schema/formats.ts'
import type { Caller } from '../../http/request.ts'
import { single } from '../../http/write.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import { emailKey } from '../../platform/mongo/index-key.ts'
import { enqueueJob } from '../../platform/outbox/outbox.ts'
import { isErasedAddress } from './erased.ts'
import { userCreated } from './jobs.ts'
import type { StoredUser } from './model.ts'
import type { UserCreate } from './schema.ts'
import { formatName } from './serialize.ts'
import { insertUser, requireFreeEmail } from './store.ts'

/** OWASP's recommendation for argon2id: 19 MiB, two passes. */
const passwordHashing = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** A user as a partner sends it, and where it comes from: the key, and the client's address. */
interface SentUser {
  fields: UserCreate
  origin: Pick<Caller, 'keyId' | 'address'>
}

/** A user that is ready to be stored. */
interface NewUser {
  user: StoredUser
}

/** Creates users. */
export const newUsers = single({
  queue: (ownerId, { user }: NewUser) => `user/${ownerId}/${user.email_key}`,
  prepare: prepareUser,
  write: createUser,
})

/**
 * Prepares to create a user for a host and to enqueue the `UserCreated` event (contract, Events).
 *
 * @throws DomainError `validation` at `email` if the host already has a user with this address, or if the address is in
 * the domain reserved for erased guests
 */
async function prepareUser(
  { db, clock, ids }: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  ownerId: number,
  { origin: { keyId, address }, fields: input }: SentUser,
): Promise<NewUser> {
  const now = clock(ownerId)
  const email = shownEmail(input.email)
  const email_key = emailKey(email)
  if (isErasedAddress(email))
    throw invalidField('email', '"email" is in a domain that is reserved for erased guests')
  await requireFreeEmail(db, ownerId, email_key)
  const first_name = formatName(input.first_name)
  const last_name = formatName(input.last_name ?? '')
  const password = input.password ?? null
  const user: StoredUser = {
    id: await ids('user'),
    owner_id: ownerId,
    email,
    email_key,
    password_hash: password === null ? null : await Bun.password.hash(password, passwordHashing),
    name: `${first_name} ${last_name}`.trimEnd(),
    first_name,
    last_name,
    phone: input.phone ?? null,
    date_of_birth: input.date_of_birth ?? null,
    gender: input.gender ?? null,
    country: input.country ?? null,
    city: input.city ?? null,
    timezone: canonicalTimeZone(input.timezone ?? 'UTC'),
    language: input.language ? canonicalLanguage(input.language) : null,
    login_ip: address,
    meta: { source: 'api', api_created: true, created_by_key: keyId },
    created_at: now,
    updated_at: now,
    erasing_at: null,
    erased_at: null,
  }
  return { user }
}

/** Stores a user, and enqueues the event of its creation. */
async function createUser(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  session: Session,
  ownerId: number,
  { user }: NewUser,
): Promise<StoredUser> {
  const { id, created_at } = user
  await insertUser(db, session, user)
  const event = { user_id: id, host_id: ownerId, source: 'api', created_at: toTimestamp(created_at) }
  await enqueueJob(db, session, clock(), { topic: userCreated, owner_id: ownerId, payload: event })
  return user
}
