import { recordAction } from '../../src/access/audit/store.ts'
import { findSuspendedHostIds } from '../../src/access/hosts/store.ts'
import { rateLimitName } from '../../src/access/keys/authorizer.ts'
import { parseExpiry } from '../../src/access/keys/expiry.ts'
import type { ApiKey } from '../../src/access/keys/model.ts'
import { shownLength } from '../../src/access/keys/secret.ts'
import { keyStatus } from '../../src/access/keys/status.ts'
import { type MintedKey, revokeKey } from '../../src/access/keys/store.ts'
import { turnOffForKeys } from '../../src/changes/webhooks/turn-off.ts'
import { toTimestampOrNull } from '../../src/core/clock.ts'
import { rateLimitBounds } from '../../src/core/config.ts'
import { announceKeyChange } from '../../src/host-clock/change-store.ts'
import { parseNetwork } from '../../src/http/input/client-address.ts'
import { normalizePermissions, permissions } from '../../src/http/permissions.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { inAmbientTransaction } from '../../src/platform/mongo/turns/ambient-transaction.ts'
import { isRefusal } from '../../src/platform/redis/cause.ts'
import { openRateLimiter } from '../../src/process/open-context.ts'
import { positional } from '../shared/command.ts'
import { ChecksFailedError, UsageError } from '../shared/errors.ts'
import { note, print, record } from '../shared/output.ts'
import type { Administration } from './administer.ts'

/** Argument that identifies the key a command acts on. */
export const keyArgument = {
  key: positional(`Id of the key, or its first ${shownLength} characters`),
} as const

/**
 * Reads a key's id or its first characters. A whole key is rejected, because arguments are visible in the process list.
 *
 * @throws UsageError for anything longer than the part of a key that is not secret
 */
export function readKeyName(text: string): string {
  if (text.length <= shownLength) return text
  throw new UsageError(
    `Identify the key by its id or its first ${shownLength} characters, never by the whole key`,
  )
}

/** @throws UsageError for an unknown permission, or if there are no permissions */
export function readPermissions(text: string) {
  const { known, unknown } = normalizePermissions(text.split(','))
  if (unknown.length > 0)
    throw new UsageError(`"${unknown[0]}" is not a permission; choose from ${permissions.join(', ')}`)
  if (known.length === 0) throw new UsageError('Option --permission needs at least one permission')
  return known
}

/** @throws UsageError for a name that is blank or too long */
export function readNewName(text: string): string {
  const name = text.trim()
  if (name === '') throw new UsageError('Option --name needs a value')
  if (name.length > 255) throw new UsageError('Option --name takes at most 255 characters')
  return name
}

/** @throws UsageError for anything but a date or an ISO time in the future */
export function readExpiry(text: string): Date {
  const moment = readMoment(text)
  if (moment.getTime() <= Date.now())
    throw new UsageError(`"${text}" is in the past: the key could never be used`)
  return moment
}

function readMoment(text: string): Date {
  try {
    return parseExpiry(text)
  } catch {
    throw new UsageError(`"${text}" is neither a date YYYY-MM-DD nor an ISO time`)
  }
}

/** @throws UsageError unless the limit is within the bounds of the service's own setting */
export function readRateLimit(text: string): number {
  const { minimum, maximum } = rateLimitBounds
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (limit < minimum || limit > maximum)
    throw new UsageError(`Option --rate-limit must be an integer from ${minimum} to ${maximum}`)
  return limit
}

const maxNetworks = 20

/**
 * Reads a comma-separated list of networks. `anywhere` means an empty list, which lifts the restriction.
 *
 * @throws UsageError for too many networks, or for one that {@link parseNetwork} does not accept
 */
export function readNetworks(text: string): string[] {
  if (text.trim() === 'anywhere') return []
  const networks = new Set<string>()
  for (const word of text.split(',').map((part) => part.trim())) {
    const network = parseNetwork(word)
    if (network === null)
      throw new UsageError(
        `"${word}" is not a network such as 203.0.113.0/24 or 2001:db8::/32 (without host bits), an address or anywhere`,
      )
    networks.add(network)
  }
  if (networks.size > maxNetworks)
    throw new UsageError(`Option --allow-from takes at most ${maxNetworks} networks`)
  return [...networks]
}

/** Reminds the user to save a key that was shown. */
export function adviseToSave(): void {
  note('Save the key now: it is not shown again')
}

/** A new key that is shown once. */
interface ShownKey {
  /** Names the key in a message, such as `key 12`. */
  name: string
  show(): void
  /** Ends the new key. */
  takeBack(): Promise<unknown>
}

/**
 * Shows a new key, or takes it back if it cannot be written. Otherwise a key that nobody has seen would stay active, and
 * its owner would be missing one (decisions §15).
 *
 * @throws ChecksFailedError if the key could not be shown
 */
export async function showOrTakeBack({ name, show, takeBack }: ShownKey): Promise<void> {
  try {
    show()
  } catch (error) {
    const reason = (error as Error).message
    await takeBack().catch((cause) => {
      throw new ChecksFailedError(`${reason}; the new ${name} could not be revoked: ${cause.message}`)
    })
    throw new ChecksFailedError(`${reason}; the new ${name} was revoked`)
  }
}

/** Revokes a key that could not be shown, with an audit entry. */
export function revokeUnseen({ db, clock }: Administration, id: number): Promise<void> {
  return inAmbientTransaction(db, async (session) => {
    await revokeKey(db, clock, String(id))
    const entry = {
      owner_id: null,
      action: 'keys revoke',
      target: `key ${id}`,
      reason: 'It could not be shown',
    }
    await recordAction(db, { ...entry, at: clock() }, session)
  })
}

/** Prints a newly minted key. This is the only time it is shown. */
export function showMinted(
  args: { json?: boolean | undefined },
  { key, record: minted }: MintedKey,
  more: Record<string, string | null> = {},
) {
  const shown = {
    id: minted.id,
    key,
    name: minted.name,
    host_id: minted.host_id,
    permissions: minted.permissions,
    expires_at: toTimestampOrNull(minted.expires_at),
    allowed_from: minted.allowed_from ?? [],
    ...more,
  }
  print(args, shown, () =>
    record({
      ...shown,
      permissions: shown.permissions.join(', '),
      allowed_from: shown.allowed_from.join(', ') || 'anywhere',
    }),
  )
}

/** Returns the keys as partners see them: the keys of a suspended host are inactive (decisions §28). */
export async function withSuspensions(db: Db, keys: ApiKey[]): Promise<ApiKey[]> {
  const suspended = await findSuspendedHostIds(
    db,
    keys.map(({ host_id }) => host_id),
  )
  return keys.map((key) => (suspended.includes(key.host_id) ? { ...key, active: false } : key))
}

/** Converts a key to the record that the commands print. */
export function toRecord(key: ApiKey) {
  return {
    id: key.id,
    prefix: key.secrets.find(({ expires_at }) => expires_at === null)?.prefix ?? null,
    host_id: key.host_id,
    name: key.name,
    permissions: key.permissions,
    status: keyStatus(key, new Date()),
    expires_at: toTimestampOrNull(key.expires_at),
    previous: key.secrets
      .filter(({ expires_at }) => expires_at !== null)
      .map(({ prefix, expires_at }) => ({ prefix, expires_at: toTimestampOrNull(expires_at) })),
    rate_limit: key.rate_limit,
    allowed_from: key.allowed_from ?? [],
    usage_count: key.usage_count,
    last_used_at: toTimestampOrNull(key.last_used_at),
    bookings_read: toTimestampOrNull(key.bookings_read),
    addresses: key.addresses.map(({ address, last_used_at }) => ({
      address,
      last_used_at: toTimestampOrNull(last_used_at),
    })),
    created_at: toTimestampOrNull(key.created_at),
  }
}

/** Prints a key's record, never the key itself. */
export function showRecord(args: { json?: boolean | undefined }, key: ApiKey): void {
  const shown = toRecord(key)
  print(args, shown, ({ permissions: granted, allowed_from, previous, addresses, ...rest }) =>
    record({
      ...rest,
      permissions: granted.join(', '),
      allowed_from: allowed_from.join(', ') || 'anywhere',
      previous: previous.map(({ prefix, expires_at }) => `${prefix} until ${expires_at}`).join(', ') || null,
      addresses: addresses.map(({ address }) => address).join(', ') || null,
    }),
  )
}

/**
 * Notifies the running processes that keys have changed: those that reach Redis through Redis, the others through the
 * database. If one of them does not respond, the processes notice the change within five seconds anyway.
 */
export async function announceKeys(
  { db, config }: Pick<Administration, 'db' | 'config'>,
  keys: ApiKey[],
): Promise<void> {
  if (keys.length === 0) return
  const hostIds = new Set(keys.map(({ host_id }) => host_id))
  await announceKeyChange(db, [...hostIds]).catch((error) => {
    note(`The database did not take the announcement (${error.message}): ${noticedLater}`)
  })
  if (!config.redisUrl) return
  try {
    const rateLimiter = await openRateLimiter(config)
    const announcing = keys.map(({ id }) => rateLimiter.invalidate(rateLimitName(id)))
    await Promise.all(announcing).finally(() => rateLimiter.close())
  } catch (error) {
    const why = isRefusal((error as Error).message) ? (error as Error).message : 'Redis does not respond'
    note(`${why}: ${noticedLater}`)
  }
}

const noticedLater = 'running processes will notice within 5 s'

/** Turns off the webhooks of keys that can no longer be used. */
export async function turnOffWebhooks(app: Administration, keys: ApiKey[]): Promise<void> {
  const ids = keys.map(({ id }) => id)
  await turnOffForKeys({ ...app, environment: { name: 'live' } }, ids)
}
