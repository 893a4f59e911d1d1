import { DomainError } from '../errors.ts'
import type { Host } from '../hosts/model.ts'
import { findHost } from '../hosts/store.ts'
import type { Db } from '../infra/mongo.ts'
import type { WindowDecision, Windows } from '../infra/windows.ts'
import type { ApiKey, KeySecret } from './model.ts'
import { hashApiKey, isWellFormedApiKey } from './secret.ts'
import { findKeyByHash, findKeyById } from './store.ts'

/** A key's record as this process last read it. */
interface KnownKey {
  key: ApiKey
  secret: KeySecret
  host: Host
  readAt: number
  /** What had been announced of the key before the record was read. */
  epoch: string | null
}

/**
 * Longest time a record is believed, should a change have been made without an announcement
 * (an administrator's command line that knows only the database).
 */
const staleAfterMilliseconds = 5000
const keptRecords = 10_000
export const minute = 60_000

/** Where a request counts: looking at the key itself does not use up what the key may do (decisions §18). */
export type RateWindow = 'default' | 'insight'
const insightLimit = 60

/** The key and host behind a request, and what its rate limit says. */
export interface Admission extends WindowDecision {
  key: ApiKey
  host: Host
  limit: number
  window: RateWindow
}

/**
 * The key sent in either header.
 *
 * @throws DomainError `auth` when there is none, or two different ones
 */
export function readApiKey(headers: Headers): string {
  const plain = headers.get('x-api-key')?.trim()
  const bearer = /^bearer\s+(.+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1]?.trim()
  const key = plain || bearer
  if (!key) throw refuse('API key is required')
  if (plain && bearer && plain !== bearer) throw refuse('API key is invalid')
  return key
}

/** Knows keys and lets their requests in: one round trip to the windows, no database read when warm. */
export class Authenticator {
  private readonly known = new Map<string, KnownKey>()

  constructor(
    private readonly db: Db,
    private readonly windows: Windows,
    private readonly defaultLimit: number,
  ) {}

  /**
   * Checks a key and takes a place in its window.
   *
   * @param mayRead false where the client has sent too many wrong keys to be worth another look into the database
   * @throws DomainError `auth` with the messages of decisions §3
   */
  async admit(
    apiKey: string,
    now: Date,
    mayRead: () => Promise<boolean>,
    window: RateWindow = 'default',
  ): Promise<Admission> {
    if (!isWellFormedApiKey(apiKey)) throw refuse('API key is invalid')
    const hash = hashApiKey(apiKey)
    let known = this.known.get(hash)
    if (!known && !(await mayRead())) throw refuse('API key is invalid')
    known ??= await this.read(hash, now, null)
    const { id } = known.key
    const limit = window === 'default' ? this.limitOf(known.key) : insightLimit
    const name = window === 'default' ? windowOfKey(id) : `${window}:${id}`
    const decision = await this.windows.hit(name, limit, minute, windowOfKey(id))
    if (!isCurrent(known, decision.epoch, now)) known = await this.read(hash, now, decision.epoch)
    requireUsable(known, now)
    return { ...decision, key: known.key, host: known.host, limit, window }
  }

  /** A key as it is stored now, and what is left of its main window; takes nothing of it. */
  async inspect(
    keyId: number,
  ): Promise<{ key: ApiKey; limit: number; remaining: number; windowSeconds: number }> {
    const key = await findKeyById(this.db, keyId)
    const limit = this.limitOf(key)
    const remaining = await this.windows.remaining(windowOfKey(keyId), limit, minute)
    return { key, limit, remaining, windowSeconds: minute / 1000 }
  }

  private limitOf(key: ApiKey): number {
    return key.rate_limit ?? this.defaultLimit
  }

  private async read(hash: string, now: Date, epoch: string | null): Promise<KnownKey> {
    const key = await findKeyByHash(this.db, hash)
    const secret = key?.secrets.find((candidate) => candidate.hash === hash)
    if (!key || !secret) throw refuse('API key is invalid')
    const host = await findHost(this.db, key.host_id)
    const known = { key, secret, host, readAt: now.getTime(), epoch }
    if (this.known.size >= keptRecords) this.known.clear()
    this.known.set(hash, known)
    return known
  }
}

/** The name under which a key's requests are counted and its changes announced. */
export function windowOfKey(keyId: number): string {
  return `key:${keyId}`
}

/** Where nothing is announced, nothing is believed: the record is read for every request. */
function isCurrent(known: KnownKey, epoch: string | null, now: Date): boolean {
  return epoch !== null && epoch === known.epoch && now.getTime() - known.readAt < staleAfterMilliseconds
}

function requireUsable({ key, secret }: KnownKey, now: Date): void {
  if (!key.active) throw refuse('API key is inactive')
  const isOver = (end: Date | null) => end !== null && end <= now
  if (isOver(key.expires_at) || isOver(secret.expires_at)) throw refuse('API key has expired')
}

function refuse(message: string): DomainError {
  return new DomainError('auth', message)
}
