import { field, type Stored } from '../platform/mongo/fields.ts'
import type {
  ReaderPosition,
  ReaderPositions,
  ReadFeed,
  StoredActivity,
  StoredReader,
  WriteOutcomes,
} from './key-activity.ts'

/**
 * Fields that say how far a key has read each feed (decisions §28 and §29) and how its writes end. On live data they
 * belong to the key's document, in the sandbox to the sandbox's, so they end with it.
 */
export const activityFields = {
  /** Version up to which the key has read the feed; null until a page has shown it anything. */
  bookings_read: field.momentOrNull,
  /** Time of the last read; null if the key has never read the feed. */
  bookings_read_at: field.momentOrNull,
  /** The last time at which the version moved forward. */
  bookings_moved_at: field.momentOrNull,
  /** Time of the last read that was not ahead of the feed. */
  bookings_sound_at: field.momentOrNull,
  /** The first read that was ahead of the feed since then; null if the last read was not ahead. */
  bookings_ahead_since: field.momentOrNull,
  messages_read: field.momentOrNull,
  messages_read_at: field.momentOrNull,
  messages_moved_at: field.momentOrNull,
  messages_sound_at: field.momentOrNull,
  messages_ahead_since: field.momentOrNull,
  /** How the key's writes have ended, by operation id; absent until the first one. */
  writes: field.mixedIfAny<Record<string, Partial<WriteOutcomes>>>(),
}

/** What a key has done, as stored. */
export type StoredActivityFields = Stored<typeof activityFields>

/** The fields of a key that has done nothing. */
export const noActivity: StoredActivityFields = {
  bookings_read: null,
  bookings_read_at: null,
  bookings_moved_at: null,
  bookings_sound_at: null,
  bookings_ahead_since: null,
  messages_read: null,
  messages_read_at: null,
  messages_moved_at: null,
  messages_sound_at: null,
  messages_ahead_since: null,
  writes: undefined,
}

/** Returns what is stored about a key. */
export function activityOf(stored: Partial<StoredActivityFields>): StoredActivity {
  const positions: ReaderPositions = {
    bookings: positionOf({
      at: stored.bookings_read_at,
      version: stored.bookings_read,
      movedAt: stored.bookings_moved_at,
      soundAt: stored.bookings_sound_at,
      aheadSince: stored.bookings_ahead_since,
    }),
    messages: positionOf({
      at: stored.messages_read_at,
      version: stored.messages_read,
      movedAt: stored.messages_moved_at,
      soundAt: stored.messages_sound_at,
      aheadSince: stored.messages_ahead_since,
    }),
  }
  const writes: StoredActivity['writes'] = {}
  for (const [operationId, outcomes] of Object.entries(stored.writes ?? {}))
    writes[operationId] = {
      succeeded_at: outcomes.succeeded_at ?? null,
      refusals: outcomes.refusals ?? [],
    }
  return { positions, writes }
}

type Loose<T> = { [Name in keyof T]: T[Name] | null | undefined }

function positionOf(stored: Loose<ReaderPosition>): ReaderPosition | null {
  const { at, version, movedAt, soundAt, aheadSince } = stored
  if (!at) return null
  return {
    version: version ?? null,
    at,
    movedAt: movedAt ?? null,
    soundAt: soundAt ?? null,
    aheadSince: aheadSince ?? null,
  }
}

/** The reads of a feed by one reader since the last write, joined. */
export interface UnwrittenRead {
  /** The latest version that the reads have shown; null if none has moved forward. */
  version: Date | null
  /** Time of the last read that was not ahead of the feed; null if there was none. */
  soundAt: Date | null
  /** The first and the last of the reads that were ahead of the feed after it; null if there was none. */
  ahead: { since: Date; at: Date } | null
}

/** The outcomes of one operation since the last write. */
export interface UnwrittenOutcomes {
  succeededAt: Date | null
  /** Times of the refusals since the success. */
  refusals: Date[]
  /** Time before which refusals no longer count. */
  forgetBefore: Date
}

/** What one key has done since the last write. */
export interface Unwritten {
  reads: Map<ReadFeed, UnwrittenRead>
  writes: Map<string, UnwrittenOutcomes>
}

/** Time for which a refusal counts (decisions §29). */
export const refusalMilliseconds = 7 * 86_400_000
/** Maximum number of refusals that are kept of an operation: the oldest, because the third is when the finding begins. */
export const keptRefusals = 100

/** A document's update, for a bulk write. */
interface ActivityUpdate {
  updateOne: { filter: object; update: object }
}

/** Returns the updates that store what a key has done. They may come from several processes in any order. */
export function activityUpdates(filter: object, { reads, writes }: Unwritten): ActivityUpdate[] {
  const updates: ActivityUpdate[] = []
  for (const [feed, read] of reads) updates.push(...readUpdates(filter, feed, read))
  for (const [operationId, outcomes] of writes) updates.push(...writeUpdates(filter, operationId, outcomes))
  return updates
}

/** The version and the times only move forward. Of two reads, the later one says whether the reader is ahead. */
function readUpdates(
  filter: object,
  feed: ReadFeed,
  { version, soundAt, ahead }: UnwrittenRead,
): ActivityUpdate[] {
  const updates: ActivityUpdate[] = []
  const readAt = `${feed}_read_at`
  const aheadSince = `${feed}_ahead_since`
  if (soundAt) {
    const update = { $max: { [readAt]: soundAt, [`${feed}_sound_at`]: soundAt } }
    const ended = { [aheadSince]: { $ne: null }, [readAt]: { $lte: soundAt } }
    updates.push({ updateOne: { filter: { ...filter, ...ended }, update: { $set: { [aheadSince]: null } } } })
    updates.push({ updateOne: { filter, update } })
  }
  if (ahead) {
    const isLatest = { $or: [{ [readAt]: null }, { [readAt]: { $lte: ahead.at } }] }
    const begun = { ...filter, [aheadSince]: null, ...isLatest }
    updates.push({ updateOne: { filter: begun, update: { $set: { [aheadSince]: ahead.since } } } })
    updates.push({ updateOne: { filter, update: { $max: { [readAt]: ahead.at } } } })
  }
  if (version === null) return updates
  const behind = { $or: [{ [`${feed}_read`]: null }, { [`${feed}_read`]: { $lt: version } }] }
  const moved = { [`${feed}_read`]: version, [`${feed}_moved_at`]: soundAt }
  updates.push({ updateOne: { filter: { ...filter, ...behind }, update: { $set: moved } } })
  return updates
}

/** A success removes the refusals before it, and whatever is written takes the room of refusals that no longer count. */
function writeUpdates(
  filter: object,
  operationId: string,
  { succeededAt, refusals, forgetBefore }: UnwrittenOutcomes,
): ActivityUpdate[] {
  const outcomes = `writes.${operationId}`
  const until = succeededAt !== null && succeededAt > forgetBefore ? succeededAt : forgetBefore
  const forget = {
    $pull: { [`${outcomes}.refusals`]: { $lte: until } },
    ...(succeededAt === null ? {} : { $max: { [`${outcomes}.succeeded_at`]: succeededAt } }),
  }
  const updates: ActivityUpdate[] = [{ updateOne: { filter, update: forget } }]
  if (refusals.length === 0) return updates
  const added = { $each: refusals, $sort: 1, $slice: keptRefusals }
  updates.push({ updateOne: { filter, update: { $push: { [`${outcomes}.refusals`]: added } } } })
  return updates
}

/** Where an environment stores its keys' activity. */
export interface ActivityStorage {
  /** Returns the id of the document that holds a reader's activity. */
  idOf(reader: { keyId: number; ownerId: number }): number
  write(activity: Map<number, Unwritten>): Promise<void>
  /** Returns the stored activity of several readers, in order. */
  find(readers: Pick<StoredReader, 'ownerId' | 'ofKey'>[]): Promise<StoredActivity[]>
}
