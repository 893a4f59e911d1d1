/** The feeds of which is noted how far each key has read them. */
export type ReadFeed = 'bookings' | 'messages'

/** A key in an environment. Its reads are its own, also in its sandbox. */
export interface Reader {
  keyId: number
  /** The host or sandbox whose feeds the key reads. */
  ownerId: number
}

/** A read of a feed without filters. */
export interface FeedRead {
  /** Version up to which the read has shown everything; null if it has shown nothing. */
  version: Date | null
  /** Time of the read, on the environment's clock. */
  at: Date
  /** True if the reader's position was ahead of the feed (decisions §9). `version` is null then. */
  isAhead: boolean
}

/** How far a key has read a feed. */
export interface ReaderPosition {
  /** Version up to which the key has been shown everything; null if it has been shown nothing. */
  version: Date | null
  /** Time of the last read. */
  at: Date
  /** The last time at which `version` moved forward. */
  movedAt: Date | null
  /** Time of the last read that was not ahead of the feed; null if there was none. */
  soundAt: Date | null
  /** The first of the reads that were ahead of the feed since then; null if the last read was not ahead. */
  aheadSince: Date | null
}

/** How far a key has read each feed; null for a feed that it has never read. */
export type ReaderPositions = Record<ReadFeed, ReaderPosition | null>

/** How the requests of one operation that writes have ended for a key. */
export interface WriteOutcomes {
  /** Time of the last success or replay; null if there was none. */
  succeeded_at: Date | null
  /** Times of refusals since then, oldest first. */
  refusals: Date[]
}

/** What is known of a key in an environment. */
export interface StoredActivity {
  positions: ReaderPositions
  /** By operation id. */
  writes: Record<string, WriteOutcomes>
}

/** A reader whose activity is looked up. */
export interface StoredReader extends Reader {
  /** Returns the activity that the key's own document holds: that on live data. */
  ofKey: () => Promise<StoredActivity>
}

/** Notes how far each key has read the feeds and how its writes end (decisions §28 and §29). */
export interface KeyActivity {
  noteRead(reader: Reader, feed: ReadFeed, read: FeedRead): void
  /** Notes a write that was refused, or one that succeeded or was replayed. */
  noteWrite(reader: Reader, operationId: string, outcome: { isRefused: boolean; at: Date }): void
  /**
   * Returns the activity of several readers, in order. It includes every read of this process, and is at most 2 s out
   * of date otherwise.
   */
  find(readers: StoredReader[]): Promise<StoredActivity[]>
  /** Writes everything that is pending. */
  flush(): Promise<void>
}
