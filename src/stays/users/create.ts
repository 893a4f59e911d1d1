import { toTimestamp } from '../../core/clock.ts'
import { shownEmail } from '../../core/email.ts'
import { invalidField } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { Caller } from '../../http/request.ts'
import { canonicalLanguage, canonicalTimeZone } from '../../http/schema/formats.ts'
import { emailKey } from '../../platform/mongo/index-key.ts'
import type { UnitOfWork } from '../../platform/mongo/transactions.ts'
import { enqueueJob } from '../../platform/outbox/outbox.ts'
import { isErasedAddress } from './erased.ts'
import { userCreated } from './jobs.ts'
import type { StoredUser } from './model.ts'
import type { UserCreate } from './schema.ts'
import { formatName } from './serialize.ts'
import { insertUser, requireFreeEmail } from './store.ts'

/** OWASP's recommendation for argon2id: 19 MiB, two passes. */
const passwordHashing = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** The origin of a request to create a user: the host, the key, and the client's address. */
export type UserOrigin = Pick<Caller, 'ownerId' | 'keyId' | 'address'>

/**
 * Prepares to create a user for a host and to enqueue the `UserCreated` event (contract, Events).
 *
 * @throws DomainError `validation` at `email` if the host already has a user with this address, or if the address is in
 * the domain reserved for erased guests
 */
export async function prepareUser(
  { db, clock, ids }: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  { ownerId, keyId, address }: UserOrigin,
  input: UserCreate,
): Promise<UnitOfWork<StoredUser>> {
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
  return {
    queue: `user/${ownerId}/${email_key}`,
    async run(session) {
      await insertUser(db, session, user)
      const event = { user_id: user.id, host_id: ownerId, source: 'api', created_at: toTimestamp(now) }
      await enqueueJob(db, session, now, { topic: userCreated, owner_id: ownerId, payload: event })
      return user
    },
  }
}
