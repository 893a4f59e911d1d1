import { toTimestamp } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { invalidField } from '../errors.ts'
import type { Effect } from '../http/idempotency.ts'
import { indexKey } from '../infra/index-key.ts'
import { breaksUniqueIndex } from '../infra/mongo.ts'
import { leaveJob } from '../infra/outbox.ts'
import type { Caller } from '../keys/caller.ts'
import { emailIndex, type User, userModel } from './model.ts'
import { formatName } from './name.ts'
import type { UserCreate, User as UserOnWire } from './schema.ts'

/** Topic of the event that creating a user fires (contract, Events). */
export const userCreated = 'UserCreated'

/** OWASP's recommendation for argon2id: 19 MiB, two passes. */
const passwordHashing = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** Who creates a user, and from where. */
export type UserOrigin = Pick<Caller, 'hostId' | 'keyId' | 'address'>

/**
 * Readies the creation of a user of a host together with its `UserCreated` event.
 *
 * @throws DomainError `validation` at `email` when a user of this host has it
 */
export async function prepareUser(
  { db, clock, ids }: Pick<Deps, 'db' | 'clock' | 'ids'>,
  { hostId, keyId, address }: UserOrigin,
  input: UserCreate,
): Promise<Effect<User>> {
  const now = clock()
  const email = input.email.toLowerCase()
  const email_key = indexKey(email) as string
  if (await userModel(db).exists({ host_id: hostId, email_key })) throw emailTaken()
  const first_name = formatName(input.first_name)
  const last_name = formatName(input.last_name)
  const password = input.password ?? null
  const user: User = {
    id: await ids('user'),
    host_id: hostId,
    email,
    email_key,
    password_hash: password === null ? null : await Bun.password.hash(password, passwordHashing),
    name: `${first_name} ${last_name}`,
    first_name,
    last_name,
    phone: input.phone ?? null,
    date_of_birth: input.date_of_birth ?? null,
    gender: input.gender ?? null,
    country: input.country ?? null,
    city: input.city ?? null,
    timezone: input.timezone ?? 'UTC',
    language: input.language ?? 'en',
    login_ip: address,
    meta: { source: 'api', api_created: true, created_by_key: keyId },
    created_at: now,
    updated_at: now,
  }
  return {
    queue: `user/${hostId}/${email}`,
    async run(session) {
      try {
        await userModel(db).create([user], { session })
      } catch (error) {
        throw breaksUniqueIndex(error, emailIndex) ? emailTaken() : error
      }
      const event = { user_id: user.id, host_id: hostId, source: 'api', created_at: toTimestamp(now) }
      await leaveJob(db, session, now, { topic: userCreated, host_id: hostId, payload: event })
      return user
    },
  }
}

function emailTaken() {
  return invalidField('email', 'A user with this "email" exists')
}

/** The user of this host with this id, or null. */
export async function findUser({ db }: Pick<Deps, 'db'>, hostId: number, id: number): Promise<User | null> {
  return userModel(db).findOne({ host_id: hostId, id }).lean()
}

/** A user as the contract writes it. */
export function toWire(user: User): UserOnWire {
  return {
    user_id: user.id,
    name: user.name,
    email: user.email,
    first_name: user.first_name,
    last_name: user.last_name,
    phone: user.phone,
    date_of_birth: user.date_of_birth,
    gender: user.gender,
    country: user.country,
    city: user.city,
    timezone: user.timezone,
    language: user.language,
    status: 1,
    role_name: 'user',
    lifecycle: 'subscriber',
    email_verified_at: null,
    login_at: toTimestamp(user.created_at),
    login_amount: 1,
    login_ip: user.login_ip,
    source: 'api',
    api_created: true,
    created_at: toTimestamp(user.created_at),
    updated_at: toTimestamp(user.updated_at),
  }
}
