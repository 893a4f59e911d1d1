import type { Clock } from '../clock.ts'
import type { ApiKey } from '../keys/model.ts'
import { keyStatus } from '../keys/status.ts'
import { findKeyIfAny, findKeysOfHost } from '../keys/store.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { Webhook } from './model.ts'

/** How long an answer is trusted. */
const trustedMilliseconds = 5000
const mostRemembered = 10_000

/**
 * Tells whether somebody may see what the hints of an endpoint are about: a usable key of its host with `bookings.read`,
 * or in the sandbox the key that it belongs to. Otherwise nothing is sent (decisions §21).
 */
export function mayHint(
  liveDb: Db,
  clock: Clock,
  isSandbox: boolean,
): (webhook: Webhook) => Promise<boolean> {
  const answers = new Map<number, { may: boolean; at: number }>()
  const look = async ({ host_id, created_by }: Webhook) => {
    const keys = isSandbox ? [await findKeyIfAny(liveDb, created_by)] : await findKeysOfHost(liveDb, host_id)
    const isUsable = (key: ApiKey | null) =>
      key !== null && keyStatus(key, clock()) === 'active' && key.permissions.includes('bookings.read')
    return keys.some(isUsable)
  }
  return async (webhook) => {
    const known = answers.get(webhook.host_id)
    if (known && performance.now() - known.at < trustedMilliseconds) return known.may
    const may = await look(webhook)
    if (answers.size >= mostRemembered) answers.clear()
    answers.set(webhook.host_id, { may, at: performance.now() })
    return may
  }
}
