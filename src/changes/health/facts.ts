import type { ApiKey } from '../../access/keys/model.ts'
import { readTotalsOfKeys } from '../../access/requests/counts-store.ts'
import type { KindCounts } from '../../access/requests/kinds.ts'
import type { ReaderPositions, StoredActivity } from '../../activity/key-activity.ts'
import { activityOf, refusalMilliseconds } from '../../activity/stored-fields.ts'
import { toDay } from '../../core/clock.ts'
import { findClocks } from '../../host-clock/change-store.ts'
import type { HostClock } from '../../host-clock/model.ts'
import type { AppContext } from '../../http/context.ts'
import type { Permission } from '../../http/permissions.ts'
import { findInventoryFacts, type InventoryFacts } from '../../inventory/facts-store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { Following } from '../../platform/mongo/following.ts'
import type { Consumer } from '../consumers/model.ts'
import { findConsumersOfKeys } from '../consumers/store.ts'
import { type FeedName, feeds as feedsByName } from '../feeds.ts'
import { findWebhooksOfKeys } from '../webhooks/store.ts'
import {
  type ConsumerHealth,
  countedUnread,
  type FeedHealth,
  type HealthFacts,
  type RefusedOperation,
} from './findings.ts'

/** What reading a key's health needs of an environment. */
export type HealthContext = Pick<AppContext, 'db' | 'liveDb' | 'clock' | 'activity'>

/** A key in an environment, whose integration is judged. */
export interface Subject {
  keyId: number
  /** The key's host, also in the key's sandbox. */
  hostId: number
  /** The host, or the key's sandbox. */
  ownerId: number
  permissions: readonly Permission[]
}

/** Period over which requests are counted. */
const countedMilliseconds = 3_600_000

/**
 * Reads what the findings of several keys depend on, in order. Everything is stored anyway. For one key this takes at
 * most eight commands beside the look-up of the key, however many bookings there are (decisions §29). All are sent at once
 * except those that count what follows the positions, which are sent once the positions are known.
 *
 * @param lookUp the look-up of the subjects' keys, in order, which is under way
 */
export async function readFacts(
  app: HealthContext,
  subjects: Subject[],
  lookUp: Promise<ApiKey[]>,
): Promise<HealthFacts[]> {
  const { db, liveDb, clock } = app
  const realNow = clock()
  const hourAgo = new Date(realNow.getTime() - countedMilliseconds)
  const listed = subjects.filter(({ permissions }) => permissions.includes('listings.read'))
  const readers = subjects.map(({ keyId, ownerId }, index) => ({
    keyId,
    ownerId,
    ofKey: async () => activityOf((await lookUp)[index] as ApiKey),
  }))
  const finding = app.activity.find(readers)
  const [keys, activity, feeds, webhooks, counts, inventories] = await Promise.all([
    lookUp,
    finding,
    readFeedsOfAll(db, subjects, finding),
    findWebhooksOfKeys(db, subjects),
    readTotalsOfKeys(liveDb, subjects, hourAgo),
    findInventoryFacts(
      db,
      listed.map(({ ownerId }) => ({ ownerId, today: toDay(clock(ownerId)) })),
    ),
  ])
  const webhooksOf = Map.groupBy(webhooks, ({ owner_id, created_by }) => nameOf(owner_id, created_by))
  return subjects.map(({ keyId, ownerId, permissions }, index) => ({
    now: clock(ownerId),
    realNow,
    feeds: feeds[index]?.health ?? null,
    consumers: feeds[index]?.consumers ?? [],
    webhooks: webhooksOf.get(nameOf(ownerId, keyId)) ?? [],
    keyExpiresAt: (keys[index] as ApiKey).expires_at,
    requests: { ...noRequests, ...(counts.get(keyId) as KindCounts | undefined) },
    refusedOperations: refusedOperations(activity[index] as StoredActivity, clock(ownerId)),
    inventory: permissions.includes('listings.read') ? (inventories.get(ownerId) ?? nothingNoted) : null,
  }))
}

const nothingNoted: InventoryFacts = { unpricedListings: [], openListings: [], calendars: [] }

function nameOf(ownerId: number, keyId: number): string {
  return `${ownerId}/${keyId}`
}

/** The clock of an owner that has none yet. */
const noClock = { last: 0, messages_last: 0 }
type FeedClock = Pick<HostClock, 'last' | 'messages_last'>

const noRequests = { succeeded: 0, refused: 0, limited: 0, failed: 0, unanswered: 0 }

async function clocksOf(db: Db, subjects: Subject[]): Promise<Map<number, HostClock>> {
  const clocks = await findClocks(db, [...new Set(subjects.map(({ ownerId }) => ownerId))])
  return new Map(clocks.map((clock) => [clock._id, clock]))
}

/** Returns the operations that were refused since their last success, without the refusals that no longer count. */
function refusedOperations({ writes }: StoredActivity, now: Date): RefusedOperation[] {
  const from = now.getTime() - refusalMilliseconds
  const operations: RefusedOperation[] = []
  for (const [operationId, { succeeded_at, refusals }] of Object.entries(writes)) {
    const counted = refusals.filter((at) => at.getTime() > from && at >= (succeeded_at ?? at))
    operations.push({ operationId, refusals: counted })
  }
  return operations
}

/** Reads each key's positions in its owner's feeds and what follows them; null for a key that may not read the feeds. */
async function readFeedsOfAll(
  db: Db,
  subjects: Subject[],
  finding: Promise<StoredActivity[]>,
): Promise<(FeedsOfKey | null)[]> {
  const [activity, consumers, clocks] = await Promise.all([
    finding,
    findConsumersOfKeys(db, subjects),
    clocksOf(db, subjects),
  ])
  const consumersOf = Map.groupBy(consumers, ({ owner_id, key_id }) => nameOf(owner_id, key_id))
  const feeds: (FeedsOfKey | null)[] = []
  for (const [index, { keyId, ownerId, permissions }] of subjects.entries()) {
    const reading = {
      ownerId,
      positions: (activity[index] as StoredActivity).positions,
      consumers: consumersOf.get(nameOf(ownerId, keyId)) ?? [],
      clock: clocks.get(ownerId) ?? noClock,
    }
    feeds.push(permissions.includes('bookings.read') ? await readFeeds(db, reading) : null)
  }
  return feeds
}

/** How far a key and its consumers are in both feeds. */
interface FeedsOfKey {
  health: Record<FeedName, FeedHealth>
  consumers: ConsumerHealth[]
}

/** One key's positions in its owner's feeds. */
interface Reading {
  ownerId: number
  positions: ReaderPositions
  consumers: Consumer[]
  /** A feed whose clock has not passed any position need not be read. */
  clock: FeedClock
}

async function readFeeds(db: Db, reading: Reading): Promise<FeedsOfKey> {
  const { positions, consumers, clock } = reading
  const [bookings, messages] = await Promise.all([
    followingOf(db, 'bookings', reading),
    followingOf(db, 'messages', reading),
  ])
  const following = { bookings, messages }
  const healthOf = (feed: FeedName): FeedHealth => {
    const read = positions[feed]
    const last = clock[feedsByName[feed].counter]
    return {
      // A feed that shows nothing new does not show its newest version either.
      newest: following[feed].newest ?? (last > 0 ? new Date(last * 1000) : null),
      read: read && {
        version: read.version,
        at: read.at,
        movedAt: read.movedAt,
        hasBegun: read.soundAt !== null,
        aheadSince: read.aheadSince,
        unread: following[feed].after(read.version),
      },
    }
  }
  return {
    health: { bookings: healthOf('bookings'), messages: healthOf('messages') },
    consumers: consumers.map(
      ({ feed, name, acknowledged, progressed_at }): ConsumerHealth => ({
        feed,
        name,
        progressedAt: progressed_at,
        pending: following[feed].after(acknowledged),
      }),
    ),
  }
}

const nothing: Following = { count: 0, oldest: null }

/** Returns what follows the positions of a key and its consumers in a feed. */
async function followingOf(db: Db, feed: FeedName, { ownerId, positions, consumers, clock }: Reading) {
  const { counter, countAfterEach } = feedsByName[feed]
  const ofConsumers = consumers.filter((one) => one.feed === feed).map(({ acknowledged }) => acknowledged)
  const ofKey = positions[feed]
  const versions = ofKey ? [ofKey.version, ...ofConsumers] : ofConsumers
  const starts = versions.map((version) => version?.getTime() ?? 0)
  const isCurrent = starts.every((start) => clock[counter] * 1000 <= start)
  if (starts.length === 0 || isCurrent) return { newest: null, after: () => nothing }
  const { newest, byPosition } = await countAfterEach(db, ownerId, starts, countedUnread)
  return {
    newest,
    after: (version: Date | null) => byPosition.get(version?.getTime() ?? 0) ?? nothing,
  }
}
