import type { FeedRead, Reader, ReaderPositions, ReadFeed, StoredReader } from '../../http/context.ts'
import { field, type Stored } from '../../platform/mongo/fields.ts'

/**
 * Fields that say how far a key has read each feed (decisions §28 and §29). On live data they belong to the key's
 * document, in the sandbox to the sandbox's, so they end with it.
 */
export const feedReadFields = {
  /** Version up to which the key has read the feed; null until a page has shown it anything. */
  bookings_read: field.momentOrNull,
  /** Time of the last read; null if the key has never read the feed. */
  bookings_read_at: field.momentOrNull,
  /** The last time at which the version moved forward. */
  bookings_moved_at: field.momentOrNull,
  messages_read: field.momentOrNull,
  messages_read_at: field.momentOrNull,
  messages_moved_at: field.momentOrNull,
}

/** How far a key has read each feed, as stored. */
export type StoredFeedReads = Stored<typeof feedReadFields>

/** The fields of a key that has read nothing. */
export const nothingRead: StoredFeedReads = {
  bookings_read: null,
  bookings_read_at: null,
  bookings_moved_at: null,
  messages_read: null,
  messages_read_at: null,
  messages_moved_at: null,
}

/** Returns stored positions by feed. Documents of earlier releases lack the fields. */
export function positionsOf(stored: Partial<StoredFeedReads>): ReaderPositions {
  return {
    bookings: positionOf(stored.bookings_read_at, stored.bookings_read, stored.bookings_moved_at),
    messages: positionOf(stored.messages_read_at, stored.messages_read, stored.messages_moved_at),
  }
}

function positionOf(
  at: Date | null | undefined,
  version: Date | null | undefined,
  movedAt: Date | null | undefined,
) {
  if (!at) return null
  return { at, version: version ?? null, movedAt: movedAt ?? null }
}

/** The last read of each feed by one reader since the last write. */
export type UnwrittenReads = Map<ReadFeed, FeedRead>

/** A document's update, for a bulk write. */
interface ReadUpdate {
  updateOne: { filter: object; update: object }
}

/** Returns the updates that store a reader's reads. The version only moves forward, whichever process writes first. */
export function readUpdates(filter: object, reads: UnwrittenReads): ReadUpdate[] {
  const updates: ReadUpdate[] = []
  for (const [feed, { version, at }] of reads) {
    updates.push({ updateOne: { filter, update: { $max: { [`${feed}_read_at`]: at } } } })
    if (version === null) continue
    const behind = { $or: [{ [`${feed}_read`]: null }, { [`${feed}_read`]: { $lt: version } }] }
    const moved = { [`${feed}_read`]: version, [`${feed}_moved_at`]: at }
    updates.push({ updateOne: { filter: { ...filter, ...behind }, update: { $set: moved } } })
  }
  return updates
}

/** Where an environment stores its readers' positions. */
export interface ReadStorage {
  /** Returns the id of the document that holds a reader's positions. */
  idOf(reader: Reader): number
  write(reads: Map<number, UnwrittenReads>): Promise<void>
  /** Returns the stored positions of several readers, in order. */
  find(readers: StoredReader[]): Promise<ReaderPositions[]>
}
