import type { Logger } from 'pino'
import { withTrace } from '../core/trace.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { withTimeoutOrNull } from '../platform/time-limits.ts'
import { type ClockChange, type ClockStream, findClocks, watchClocks } from './change-store.ts'
import type { Counter, HostClock } from './model.ts'

const counters: Counter[] = ['last', 'messages_last']
/** Delay before a broken stream is first reopened. Later attempts wait longer. Each attempt also reads the clocks. */
const reopenSoonMilliseconds = 300
const reopenEveryMilliseconds = 4000
const closeMilliseconds = 2000

/**
 * Reports changes to hosts' data. All watchers, followers and listeners share one change stream on the hosts' clocks,
 * which opens when the first of them is added. A reported change has been acknowledged by a majority, so a subsequent
 * query sees it.
 */
export class HostChanges implements Changes {
  private readonly watchers = new Map<string, Set<(movement: WatchEvent) => void>>()
  private readonly followers = new Set<(ownerId: number | 'any') => void>()
  private readonly listeners = new Set<StreamListener>()
  /** The last known clocks of watched hosts, by host id. */
  private readonly known = new Map<number, Partial<HostClock>>()
  private stream: ClockStream | undefined
  private isLive = false
  private running: Promise<void> | undefined
  private pause = Promise.withResolvers<void>()
  private closed = false

  constructor(
    private readonly db: Db,
    private readonly log: Logger,
  ) {}

  watch(ownerId: number, counter: Counter): Watch {
    this.running ??= withTrace(undefined, () => this.run())
    let pending = Promise.withResolvers<WatchEvent>()
    const tell = (movement: WatchEvent) => pending.resolve(movement)
    const name = nameOf(ownerId, counter)
    const watchers = this.watchers.get(name) ?? new Set()
    watchers.add(tell)
    this.watchers.set(name, watchers)
    return {
      async next() {
        const movement = await pending.promise
        if (movement === 'moved') pending = Promise.withResolvers<WatchEvent>()
        return movement
      },
      end: () => {
        watchers.delete(tell)
        if (watchers.size > 0) return
        this.watchers.delete(name)
        if (counters.every((other) => !this.watchers.has(nameOf(ownerId, other)))) this.known.delete(ownerId)
      },
    }
  }

  follow(tell: (ownerId: number | 'any') => void): { end(): void } {
    this.running ??= withTrace(undefined, () => this.run())
    this.followers.add(tell)
    return { end: () => this.followers.delete(tell) }
  }

  listen(listener: StreamListener): void {
    this.running ??= withTrace(undefined, () => this.run())
    this.listeners.add(listener)
  }

  async close(): Promise<void> {
    this.closed = true
    this.pause.resolve()
    // The wait has a time limit, because the database may not respond. Abandoning the stream loses nothing.
    const ended = Promise.all([this.stream?.close().catch(() => {}), this.running])
    await withTimeoutOrNull(ended, closeMilliseconds)
  }

  private async run(): Promise<void> {
    for (let failures = 0; !this.closed; failures += 1) {
      try {
        const stream = watchClocks(this.db)
        this.stream = stream
        // This call opens the stream. `readWatchedClocks()` then finds earlier changes to watched clocks.
        const first = await this.hear(stream)
        this.isLive = true
        await this.readWatchedClocks()
        this.notifyFollowers('any')
        if (first) this.notify(first)
        failures = 0
        while (!this.closed) {
          const change = await this.hear(stream)
          if (change) this.notify(change)
        }
      } catch (error) {
        if (this.closed) return
        if (this.isLive || failures === 0)
          this.log.warn({ error: String(error) }, 'The change stream broke: polling every few seconds')
        this.isLive = false
        for (const listener of this.listeners) listener.lost()
        await this.stream?.close().catch(() => {})
        await this.readWatchedClocks().catch(() => {})
        const pause = failures > 0 ? reopenEveryMilliseconds : reopenSoonMilliseconds
        await Promise.race([Bun.sleep(pause), this.pause.promise])
      }
    }
  }

  /** Waits for the stream's next answer, and tells the listeners of it before anything else happens. */
  private async hear(stream: ClockStream): Promise<ClockChange | null> {
    const change = await stream.tryNext()
    for (const listener of this.listeners) {
      if (change && !change.gone && change.isKeyChange) listener.keysChanged()
      listener.heard()
    }
    return change
  }

  private notify(change: ClockChange): void {
    if (change.gone) {
      for (const counter of counters) this.wake(change.ownerId, counter, 'gone')
      return
    }
    if (change.isRelease) for (const counter of counters) this.wake(change.ownerId, counter, 'released')
    this.compare(change.ownerId, change.clock)
    this.notifyFollowers(change.ownerId)
  }

  private notifyFollowers(ownerId: number | 'any'): void {
    for (const tell of this.followers) tell(ownerId)
  }

  /** Reads the clocks of all watched hosts. A clock that was not known before counts as moved. */
  private async readWatchedClocks(): Promise<void> {
    const hosts = [...new Set([...this.watchers.keys()].map((name) => Number.parseInt(name, 10)))]
    const found = new Map((await findClocks(this.db, hosts)).map((clock) => [clock._id, clock]))
    for (const host of hosts) {
      const clock = found.get(host)
      if (clock) this.compare(host, { last: clock.last, messages_last: clock.messages_last ?? 0 })
      else for (const counter of counters) this.wake(host, counter, 'gone')
    }
  }

  private compare(ownerId: number, clock: Partial<Record<Counter, number>>): void {
    const known = this.known.get(ownerId)
    const moved = counters.filter(
      (counter) => clock[counter] !== undefined && clock[counter] !== known?.[counter],
    )
    if (moved.some((counter) => this.watchers.has(nameOf(ownerId, counter))))
      this.known.set(ownerId, { ...known, ...clock })
    // If this breaks: a change wakes nobody who waits for it
    for (const counter of moved) this.wake(ownerId, counter, 'moved')
  }

  private wake(ownerId: number, counter: Counter, movement: WatchEvent): void {
    for (const tell of this.watchers.get(nameOf(ownerId, counter)) ?? []) tell(movement)
  }
}

function nameOf(ownerId: number, counter: Counter): string {
  return `${ownerId}/${counter}`
}

/**
 * An event for a watcher: the counter has moved, the clock is gone (for example, because the sandbox was cleared), or
 * the host's held requests must be released.
 */
export type WatchEvent = 'moved' | 'gone' | 'released'

/** A watch on one counter of a host's clock. */
export interface Watch {
  /**
   * Resolves with the first event since the previous call, or since the watch started. After `gone` or `released`,
   * every further call resolves with the same event.
   */
  next(): Promise<WatchEvent>
  end(): void
}

/** Listens to the change stream itself, whichever hosts its changes are of. */
export interface StreamListener {
  /** The stream has answered, which it does every two seconds at the latest, even if nothing has changed. */
  heard(): void
  /** A host, or keys of it, have changed. */
  keysChanged(): void
  /** The stream broke. What is announced until it is heard again may be missed. */
  lost(): void
}

/** Reports changes to hosts' data. */
export interface Changes {
  /** Watches a host's bookings (`last`) or messages. A caller that reads the data after this call misses no change. */
  watch(ownerId: number, counter: Counter): Watch
  /** Calls `tell` with each changed host's id, or `any` if a change may have been missed, until `end` is called. */
  follow(tell: (ownerId: number | 'any') => void): { end(): void }
  /** Tells a listener of the stream's answers, for as long as the process runs. */
  listen(listener: StreamListener): void
}
