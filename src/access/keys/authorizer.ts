import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { DomainError, rateLimited, UnusableKeyError } from '../../core/errors.ts'
import type { LimitState, RateWindow } from '../../http/access.ts'
import type { AppContext, Authorization, Authorizer, CountedAs } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { minuteMilliseconds, type RateLimiter } from '../../platform/rate-limiter.ts'
import type { Host } from '../hosts/model.ts'
import { findHost } from '../hosts/store.ts'
import type { KeyChanges } from './key-changes.ts'
import { KnownRoom } from './known-room.ts'
import type { ApiKey, KeySecret } from './model.ts'
import { hashApiKey, isWellFormedApiKey } from './secret.ts'
import { findKeyByHash, findKeyById } from './store.ts'

/** A key's record as last read by this process. */
interface CachedKey {
  key: ApiKey
  secret: KeySecret
  host: Host
  readAt: number
  /** The latest revision that was known before the record was read; null if none was known. */
  revision: string | null
  /** What is known of the room in each of the key's rate limits, since the record was read. */
  rooms: Record<RateWindow, KnownRoom>
}

/**
 * Maximum age at which a cached record is trusted, whatever is announced: a change may be made without being announced,
 * and an announcement may be late. So a change is effective within this time (decisions §3).
 */
const staleAfterMilliseconds = 5000
/** Maximum number of records that a process caches. With more keys in use, those unused for longest are read again. */
const maxCachedKeys = 10_000

/** Delay after which a client may retry a throttled lookup. */
const lookUpPauseMilliseconds = 1000

/** Maximum number of requests per minute to the routes about the key itself (decisions §18). */
const insightLimit = 60

/** What a {@link KeyAuthorizer} needs. */
interface Sources extends Pick<AppContext, 'db' | 'rateLimiter'> {
  /** Tells of changes to keys while Redis does not. */
  keyChanges: Pick<KeyChanges, 'revision'>
}

/**
 * Authorizes requests by API key. For a cached key, this takes one round trip to the rate limiter, none without Redis,
 * and usually no database query.
 */
export class KeyAuthorizer implements Authorizer {
  private readonly cached: LRUCache<string, CachedKey>
  private readonly lookUps = new Map<string, Promise<CachedKey>>()
  /** Renewals of old records under way, by the hash of the key. */
  private readonly renewals = new Map<string, Promise<CachedKey>>()
  private readonly db: Db
  private readonly rateLimiter: RateLimiter
  private readonly keyChanges: Sources['keyChanges']

  constructor(
    { db, rateLimiter, keyChanges }: Sources,
    private readonly defaultLimit: number,
    max = maxCachedKeys,
  ) {
    this.db = db
    this.rateLimiter = rateLimiter
    this.keyChanges = keyChanges
    this.cached = new LRUCache({ max })
  }

  async authorize(
    apiKey: string,
    now: Date,
    mayLookUp: () => Promise<boolean>,
    { window = 'default', foresee }: CountedAs = {},
  ): Promise<Authorization> {
    if (!isWellFormedApiKey(apiKey)) throw authError('API key is invalid')
    const hash = hashApiKey(apiKey)
    let cached = this.cached.get(hash) ?? (await this.lookUp(hash, now, mayLookUp))
    const { id } = cached.key
    const room = cached.rooms[window]
    const limit = window === 'default' ? limitOf(cached.key, this.defaultLimit) : insightLimit
    const name = window === 'default' ? rateLimitName(id) : `${window}:${id}`
    const deciding = this.rateLimiter.hit(name, limit, minuteMilliseconds, rateLimitName(id))
    room.begin()
    // An old record is read again whatever the limiter decides.
    const renewing = isFresh(cached, now) ? undefined : this.renew(cached, hash, now)
    if (foresee && room.isAmple && whyUnusable(cached, now) === null)
      foresee({ key: cached.key, host: cached.host })
    const decision = await deciding
    room.end(decision, limit)
    if (renewing) cached = await renewing
    const isRefused = !decision.allowed || whyUnusable(cached, now) !== null
    const revision = decision.revision ?? this.keyChanges.revision()
    if (!isCurrent(cached, revision, now, isRefused))
      cached = await this.read(hash, now, { revision, hostId: cached.key.host_id })
    requireUsable(cached, now)
    return { ...decision, key: cached.key, host: cached.host, limit, window }
  }

  async confirm(apiKey: string, now: Date): Promise<LimitState & Pick<Authorization, 'key'>> {
    const found = await this.find(hashApiKey(apiKey))
    requireUsable(found, now)
    const { key } = found
    const limit = limitOf(key, this.defaultLimit)
    const state = await this.rateLimiter.peek(rateLimitName(key.id), limit, minuteMilliseconds)
    return { ...state, key, limit, window: 'default' }
  }

  /**
   * Looks up a key once for all of its concurrent requests, so that a burst of requests with the same key is not
   * mistaken for key guessing.
   */
  private lookUp(hash: string, now: Date, mayLookUp: () => Promise<boolean>): Promise<CachedKey> {
    return once(this.lookUps, hash, async () => {
      // The key may be valid, and a 401 would make the client give up.
      if (!(await mayLookUp())) throw rateLimited(lookUpPauseMilliseconds)
      return this.read(hash, now, { revision: null })
    })
  }

  /** @param hostId the host of the key, if it is known; it is then read at the same time */
  private async find(hash: string, hostId?: number): Promise<Found> {
    // Only the second read counts if this one fails, because the key decides what the request is told.
    const known = hostId === undefined ? null : findHost(this.db, hostId).catch(() => null)
    const key = await findKeyByHash(this.db, hash)
    const secret = key?.secrets.find((candidate) => candidate.hash === hash)
    if (!key || !secret) throw authError('API key is invalid')
    const host = (await known) ?? (await findHost(this.db, key.host_id))
    return { key, secret, host }
  }

  /**
   * Reads an old record again, once for all of its concurrent requests. If nothing has changed that decides about a
   * request, the record stays the same, so a request that was begun for it goes on.
   */
  private renew(old: CachedKey, hash: string, now: Date): Promise<CachedKey> {
    const renewal = once(this.renewals, hash, () => this.readAgain(old, hash, now))
    // A request that fails for another reason never looks at it.
    renewal.catch(() => {})
    return renewal
  }

  private async readAgain(old: CachedKey, hash: string, now: Date): Promise<CachedKey> {
    try {
      const found = await this.find(hash, old.key.host_id)
      // This reading may miss a change that was announced since the old record was read, so the old revision stays.
      const { revision } = old
      const renewed = { ...(isSame(old, found) ? old : fresh(found)), readAt: now.getTime(), revision }
      this.cached.set(hash, renewed)
      return renewed
    } catch (error) {
      if (error instanceof DomainError) this.cached.delete(hash)
      throw error
    }
  }

  /** Reads a key's record and caches it with the revision that was known before. */
  private async read(
    hash: string,
    now: Date,
    { revision, hostId }: { revision: string | null; hostId?: number },
  ): Promise<CachedKey> {
    const cached: CachedKey = { ...fresh(await this.find(hash, hostId)), readAt: now.getTime(), revision }
    this.cached.set(hash, cached)
    return cached
  }
}

/** Returns a key's stored record and its remaining requests under the main rate limit, without counting a request. */
export async function inspectKey(
  { liveDb, rateLimiter, config }: Pick<AppContext, 'liveDb' | 'rateLimiter' | 'config'>,
  keyId: number,
): Promise<{ key: ApiKey; limit: number; remaining: number; windowSeconds: number }> {
  const key = await findKeyById(liveDb, keyId)
  const limit = limitOf(key, config.rateLimitPerMinute)
  const { remaining } = await rateLimiter.peek(rateLimitName(keyId), limit, minuteMilliseconds)
  return { key, limit, remaining, windowSeconds: minuteMilliseconds / 1000 }
}

/** Returns the name under which a key's requests are counted and its changes are announced. */
export function rateLimitName(keyId: number): string {
  return `key:${keyId}`
}

function limitOf({ rate_limit }: ApiKey, defaultLimit: number): number {
  return rate_limit ?? defaultLimit
}

/**
 * Returns true if a cached record is recent enough to authorize or refuse a request. While changes are not announced, a
 * cached record must not allow a request, so the record is read again. A fresh cached record may still refuse a request,
 * so that a flood of refused requests does not reach the database.
 */
function isCurrent(cached: CachedKey, revision: string | null, now: Date, isRefused: boolean): boolean {
  if (!isFresh(cached, now)) return false
  return revision === null ? isRefused : revision === cached.revision
}

function isFresh({ readAt }: CachedKey, now: Date): boolean {
  // A record from the future was read before the clock was set back.
  return Math.abs(now.getTime() - readAt) < staleAfterMilliseconds
}

/** Returns the work in progress under this name, or begins it if there is none. */
function once<T>(underWay: Map<string, Promise<T>>, name: string, begin: () => Promise<T>): Promise<T> {
  const current = underWay.get(name)
  if (current) return current
  const work = begin().finally(() => underWay.delete(name))
  underWay.set(name, work)
  return work
}

type Found = Pick<CachedKey, 'key' | 'secret' | 'host'>

/** Returns a record of which nothing is known yet. */
function fresh({ key, secret, host }: Found): Found & Pick<CachedKey, 'rooms'> {
  return { key, secret, host, rooms: { default: new KnownRoom(), insight: new KnownRoom() } }
}

/** Returns true if two readings of a key's record decide alike about every request. */
function isSame(one: Found, other: Found): boolean {
  return isDeepStrictEqual(decidingParts(one), decidingParts(other))
}

/** The parts of a record that decide about a request; the others are the key's use, which changes with every request. */
function decidingParts({ key, secret, host }: Found) {
  const { permissions, active, expires_at, rate_limit, allowed_from } = key
  return { permissions, active, expires_at, rate_limit, allowed_from, secret, host }
}

function requireUsable(found: Found, now: Date): void {
  const message = whyUnusable(found, now)
  if (message !== null) throw new UnusableKeyError(message, { id: found.key.id, hostId: found.key.host_id })
}

function whyUnusable({ key, secret, host }: Found, now: Date): string | null {
  if (!key.active || host.suspended_at) return 'API key is inactive'
  const isOver = (end: Date | null) => end !== null && end <= now
  return isOver(key.expires_at) || isOver(secret.expires_at) ? 'API key has expired' : null
}

function authError(message: string): DomainError {
  return new DomainError('auth', message)
}
