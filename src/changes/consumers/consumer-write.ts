import { invalidField, type Problem } from '../../core/errors.ts'
import { parseFeedTime } from '../../host-clock/format.ts'
import { readHostClock } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import { isSlug } from '../../http/input/path-ids.ts'
import type { Caller, Unchecked } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { type FeedName, feeds } from '../feeds.ts'
import type { Consumer } from './model.ts'
import type { ConsumerWrite } from './schema.ts'
import {
  type ConsumerSet,
  consumerSetOf,
  findConsumerIfAny,
  insertConsumer,
  listConsumers,
  moveConsumerBack,
  moveConsumerForward,
} from './store.ts'

/** Maximum number of consumers per key and feed. */
const consumersPerKey = 20
const maxName = 64

/**
 * Moves a consumer to the last version that its poller has handled, and creates the consumer if necessary (decisions
 * §19). The consumer moves back only if `seek` is true, so a late or repeated acknowledgement does no harm.
 *
 * @throws DomainError `validation` at `name` or `acknowledged`
 */
export async function putConsumer(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  caller: Caller,
  { feed, name }: Pick<Consumer, 'feed' | 'name'>,
  { acknowledged, seek = false }: ConsumerWrite,
): Promise<Consumer> {
  const version = acknowledged === null ? null : parseFeedTime(acknowledged)
  await requireKnown(db, caller.ownerId, feed, version)
  const set = consumerSetOf(caller, feed)
  const now = clock(caller.ownerId)
  const position = { acknowledged: version, acknowledged_at: version === null ? null : now }
  for (;;) {
    const known = await findConsumerIfAny(db, set, name)
    if (known) {
      await moveConsumer(db, known, { ...position, seek })
      const moved = await findConsumerIfAny(db, set, name)
      if (moved) return moved
    }
    const slot = await freeSlot(db, set)
    const consumer = { ...set, name, slot, ...position, progressed_at: now }
    if (await insertConsumer(db, consumer)) return consumer
  }
}

/** Moves a consumer forward, or back if `seek` is true. The beginning of the feed is not ahead of any position. */
async function moveConsumer(
  db: Db,
  known: Consumer,
  { seek, ...position }: Pick<Consumer, 'acknowledged' | 'acknowledged_at'> & { seek: boolean },
): Promise<void> {
  const { acknowledged, acknowledged_at } = position
  if (acknowledged !== null && acknowledged_at !== null && isAhead(acknowledged, known)) {
    const isForward = await moveConsumerForward(db, known, { acknowledged, acknowledged_at })
    if (isForward) return
  }
  // If this breaks: an old acknowledgement moves a consumer back
  if (seek) await moveConsumerBack(db, known, position)
}

function isAhead(version: Date, { acknowledged }: Consumer): boolean {
  return acknowledged === null || acknowledged < version
}

/** Returns the problems with a consumer's name, which are reported together with the body's problems. */
export function nameProblems({ params }: Pick<Unchecked<{ name: string }>, 'params'>): Problem[] {
  // Elysia sets a parameter to null if it cannot be decoded.
  const name = params.name ?? ''
  if ([...name].length > maxName)
    return [{ path: 'name', code: 'max', message: `"name" must be at most ${maxName} characters` }]
  if (isSlug(name)) return []
  const message = '"name" must be lower-case letters, digits and hyphens'
  return [{ path: 'name', code: 'invalid', message }]
}

/** Rejects a version that the host has not assigned yet, because the consumer would skip all changes up to it. */
async function requireKnown(db: Db, ownerId: number, feed: FeedName, version: Date | null): Promise<void> {
  if (version === null) return
  if (version > (await readHostClock(db, ownerId, feeds[feed].counter)))
    throw invalidField('acknowledged', '"acknowledged" must be a version that the feed has shown')
}

async function freeSlot(db: Db, set: ConsumerSet): Promise<number> {
  const taken = (await listConsumers(db, set)).map(({ slot }) => slot)
  const slot = firstFree(taken, consumersPerKey)
  if (slot === undefined)
    throw invalidField(
      'name',
      `A key can have at most ${consumersPerKey} consumers per feed; delete one`,
      'max',
    )
  return slot
}

/** Returns the lowest number from 0 to `count - 1` that is not taken, or undefined if all are taken. */
export function firstFree(taken: Iterable<number>, count: number): number | undefined {
  const all = new Set(taken)
  return Array.from({ length: count }, (_, index) => index).find((index) => !all.has(index))
}
