/*
 * A key has at most one open sandbox. A sandbox has three states:
 *
 *   filling ── all data stored ──► open ── cleared, or no write for an hour ──► ended ── swept after 30 s ──► deleted
 *      └─────── not filled within ten minutes ────────────────────────────────────▲
 *
 * This file takes a sandbox to `open`, and `end.ts` takes it from there. `lifetime.ts` and `sandbox-room.ts` keep an open sandbox
 * within its limits of time and size.
 */

import { noActivity } from '../../activity/stored-fields.ts'
import { DomainError } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { busy, isDuplicate } from '../../platform/mongo/errors.ts'
import { withLease } from '../../platform/mongo/turns/lease.ts'
import { findSandboxKey, recordFill } from '../key-store.ts'
import { findOpen, insertFilling, type OpenSandbox, openFilled } from '../store.ts'
import type { SandboxData } from './documents-store.ts'
import { clearSandboxes, endSandboxes } from './end.ts'
import { maxFills, secondsUntilFill } from './fills.ts'
import { endAfter } from './lifetime.ts'
import { seedSandbox } from './seed.ts'

/** What opens a key's sandbox. */
type SandboxOpening = SandboxData & Pick<AppContext, 'clockWatch' | 'config' | 'ids'>

/** Time after which the process that is filling a sandbox is presumed dead. */
const maxFillMilliseconds = 600_000
/**
 * Duration of the lease for filling a sandbox, and maximum time that the key's other requests wait, in milliseconds.
 */
const filling = { leaseMilliseconds: 30_000, maxWaitMilliseconds: 10_000 }

/** Returns a key's open sandbox, or null. While this process's clock is wrong, no sandbox counts as expired. */
export function findSandbox(
  { db, clock, clockWatch }: Pick<AppContext, 'db' | 'clock' | 'clockWatch'>,
  keyId: number,
): Promise<OpenSandbox | null> {
  return findOpen(db, keyId, clockWatch.isSound() ? clock() : null)
}

/**
 * Returns a key's sandbox. Fills a new sandbox from `sandbox/data` on first use, or if the previous sandbox was cleared
 * or had no write for an hour. The previous sandbox then becomes unreachable, and its documents are deleted. While this
 * process's clock is wrong, no sandbox counts as expired.
 *
 * @throws ClockSkewError if the key has no sandbox and this process's clock is wrong; DomainError `conflict` with a
 * retry time if the sandbox has been filled too often or another request takes too long to fill it
 */
export async function openSandbox(store: SandboxOpening, keyId: number): Promise<OpenSandbox> {
  const { db, clockWatch } = store
  const found = await findSandbox(store, keyId)
  if (found) return found
  clockWatch.requireSound()
  const ofDb = fills.get(db) ?? new Map<number, Promise<OpenSandbox>>()
  fills.set(db, ofDb)
  const shared = ofDb.get(keyId) ?? fillOnce(store, keyId).finally(() => ofDb.delete(keyId))
  ofDb.set(keyId, shared)
  return shared
}

/** Pending fills of each database by key, so that a key's concurrent requests share one attempt. */
const fills = new WeakMap<Db, Map<number, Promise<OpenSandbox>>>()

/** Fills a key's sandbox, or waits for the request that is filling it. */
function fillOnce(store: SandboxOpening, keyId: number): Promise<OpenSandbox> {
  const { db, clock, clockWatch } = store
  const limits = { now: () => clockWatch.databaseNow(), ...filling }
  return withLease(db, `filling:${keyId}`, limits, async () => {
    const now = clock()
    // Another request may have just filled the sandbox.
    const found = await findOpen(db, keyId, now)
    if (found) return found
    const { fills = [] } = (await findSandboxKey(db, keyId)) ?? {}
    const seconds = secondsUntilFill(fills, now)
    if (seconds > 0) throw filledTooOften(seconds)
    await clearSandboxes(store, { key_id: keyId })
    const filled = await fillSandbox(store, keyId)
    await recordFill(db, keyId, now, maxFills)
    return filled
  })
}

function filledTooOften(seconds: number): DomainError {
  const message = `The sandbox was cleared too often; it can be filled again in ${seconds} s`
  return new DomainError('conflict', message, [], seconds)
}

async function fillSandbox(store: SandboxOpening, keyId: number): Promise<OpenSandbox> {
  const { db, clock, config, ids } = store
  const sandboxId = await ids('host')
  const due_at = new Date(clock().getTime() + maxFillMilliseconds)
  const sandbox = {
    _id: sandboxId,
    documents: 0,
    bytes: 0,
    ahead_seconds: 0,
    rules: [],
    rules_id: null,
    observer_id: null,
    ...noActivity,
  }
  await insertFilling(db, { ...sandbox, key_id: keyId, due_at })
  // The new sandbox continues after the last versions of the key's earlier sandboxes, so that a poller's stored position
  // remains valid.
  const { last_version = 0, last_message_version = 0 } = (await findSandboxKey(db, keyId)) ?? {}
  const start = { last: last_version, messages_last: last_message_version }
  await seedSandbox({ db, clock, config, ids, sandboxId, keyId }, start)
  try {
    await openFilled(db, sandboxId, endAfter(clock()))
    return sandbox
  } catch (error) {
    if (!isDuplicate(error)) throw error
    // Filling took so long that another request opened a sandbox for the key first.
    await endSandboxes(store, { _id: sandboxId })
    throw busy()
  }
}
