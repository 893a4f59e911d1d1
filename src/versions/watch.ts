import type { Counter } from './model.ts'

/**
 * The news for a watcher: something was written, the host is gone, as a sandbox that was cleared, or what is held for it is
 * to be answered now.
 */
export type Movement = 'moved' | 'gone' | 'released'

/** Watches one counter of one host's clock. */
export interface Watch {
  /** Resolves with what has happened since it was last called, or since the watch began. */
  next(): Promise<Movement>
  end(): void
}

/** Tells when something of a host has changed. */
export interface Changes {
  /** Watches the bookings (`last`) or the messages of a host; whoever reads after this misses nothing. */
  watch(hostId: number, counter: Counter): Watch
  /** Tells of every host that moves, until `end`; `any` where one may have moved unheard. */
  follow(tell: (hostId: number | 'any') => void): { end(): void }
}
