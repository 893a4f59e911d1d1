import { findSuspendedHostIds } from '../../access/hosts/store.ts'
import { keyStatus } from '../../access/keys/status.ts'
import { findKeyStates, type KeyState } from '../../access/keys/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Webhook } from './model.ts'

/** Returns true if the key is active and may read bookings. */
export function isUsable(
  key: Pick<KeyState, 'permissions' | 'active' | 'revoked_at' | 'expires_at'>,
  now: Date,
): boolean {
  return keyStatus(key, now) === 'active' && key.permissions.includes('bookings.read')
}

/** Returns the ids of the given keys that are usable and whose hosts are not suspended (decisions §21). */
export async function usableKeys(
  { liveDb, clock }: Pick<AppContext, 'liveDb' | 'clock'>,
  ids: number[],
): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const keys = (await findKeyStates(liveDb, ids)).filter((key) => isUsable(key, clock()))
  const suspended = await findSuspendedHostIds(
    liveDb,
    keys.map(({ host_id }) => host_id),
  )
  return new Set(keys.filter(({ host_id }) => !suspended.includes(host_id)).map(({ id }) => id))
}

/**
 * Returns true if the webhook's key is usable and its host is not suspended; otherwise the webhook gets no hints
 * (decisions §21).
 */
export async function hasUsableKey(
  app: Pick<AppContext, 'liveDb' | 'clock'>,
  { created_by }: Pick<Webhook, 'created_by'>,
): Promise<boolean> {
  return (await usableKeys(app, [created_by])).has(created_by)
}
