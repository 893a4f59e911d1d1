import type { Answer } from './answer.ts'
import { type Query, segment } from './call.ts'
import { rateLimitPause, sleep } from './retry.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** The filters of a feed: each query parameter that is neither a position nor a pace, and is not `include`. */
export type FeedFilters<O extends 'pollBookings' | 'pollMessages'> = Omit<
  Query<O>,
  'updated_after' | 'consumer' | 'cursor' | 'page' | 'per_page' | 'wait' | 'include'
>

/** Where to start in a feed: after a version, or at a consumer's position, which the service keeps. */
export type FeedPosition<Filters> =
  | ({ after?: string | null | undefined; consumer?: never } & Filters)
  // A consumer takes no filters, because it would acknowledge the changes that a filter hides.
  | ({ consumer: string; after?: never } & { [name in keyof Filters]?: never })

/** Options for following a feed. */
export interface FeedPace {
  /** Seconds (1 to 30) that the service holds a request while nothing is new. If set, the loop never ends by itself. */
  wait?: number | undefined
  /**
   * Seconds to pause after an empty page that arrived before `wait` was over; 5 by default, or `wait` if that is less.
   * Such a page means that the service is already holding too many requests.
   */
  pauseSeconds?: number | undefined
  /** Once aborted, ends the loop at the next item or request by throwing the signal's reason. */
  signal?: AbortSignal | undefined
  per_page?: number | undefined
  /** Called with each page that has changes, before its first change is yielded. */
  onPage?: ((page: FeedPage<unknown>) => void) | undefined
  /** Called when a position turns out to be ahead of the feed, which cannot show anything then. Once per time. */
  onAhead?: ((ahead: Ahead) => void) | undefined
}

/** A position that the feed has never reached: it is from another service, or from before a restore. */
export interface Ahead {
  /** The position that was sent; undefined with a consumer. */
  after: string | undefined
  /** Version of the newest row in the feed; null if there is none. */
  newestVersion: string | null
}

export interface FeedPage<T> {
  items: T[]
  /**
   * Version to continue after once the page's items have been handled. On a page that is ahead of the feed, the position
   * that was sent; empty with a consumer.
   */
  checkpoint: string
  /** `meta` of the response. `ahead` is true and `newest_version` is set if the position is ahead of the feed. */
  meta: Answer['meta'] & { ahead?: true; newest_version?: string | null }
}

interface Source<T> {
  path: string
  consumers: string
  itemsOf(data: Answer['data']): T[]
}

/** Retries without limit, so an outage does not end a feed. */
const unlimitedRetries = { retries: Number.POSITIVE_INFINITY }
/** Pause after an empty page that arrived early. Such a page means that the service had no room to hold the request. */
const earlyPauseSeconds = 5
/** Pause after a response from a process that is shutting down. Another process takes over during the pause. */
const leavingPauseSeconds = 1

function isFeed(items: unknown): boolean {
  return Array.isArray(items) && items.every((item) => typeof item?.version === 'string')
}

/**
 * @param after the version after which the page should start
 * @throws Error if the page does not move forward, because continuing could repeat changes forever or skip some
 */
function requireForward(items: { version: string }[], after = ''): void {
  let last = after
  for (const { version } of items) {
    if (version <= last) throw new Error(`The feed does not move forward: "${version}" after "${last}"`)
    last = version
  }
}

/**
 * Iterates over a feed's changes, once each, and handles paging, limits and faults. Without `wait`, the iteration ends
 * after the latest change. With `wait`, it continues until `signal` is aborted. A consumer's progress is acknowledged
 * when the loop requests the next page. If the loop is left early, progress is acknowledged up to the change before the
 * current one.
 */
export class Feed<T extends { version: string }> implements AsyncIterable<T> {
  constructor(
    private readonly transport: Transport,
    private readonly source: Source<T>,
    private readonly options: FeedPosition<object> & FeedPace & { include?: string | undefined },
  ) {
    const { consumer, wait, pauseSeconds, signal, per_page, onPage, onAhead, include, ...others } = options
    const filter = Object.entries(others).find(([, value]) => value !== undefined && value !== null)
    if (consumer !== undefined && filter)
      throw new TypeError(`A consumer follows a whole feed: leave out "${filter[0]}"`)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const { signal } = this.options
    for await (const { items } of this.walk()) {
      let handled: string | undefined
      try {
        for (const item of items) {
          signal?.throwIfAborted()
          yield item
          handled = item.version
        }
      } finally {
        await this.acknowledge(handled)
      }
    }
    signal?.throwIfAborted()
  }

  /**
   * Iterates over the changes page by page, and yields an empty page once if the position turns out to be ahead of the
   * feed (`meta.ahead`). Each page is acknowledged when the next page is requested. A loop that
   * leaves a page in the middle can acknowledge what it has handled with {@link acknowledge}.
   */
  async *pages(): AsyncGenerator<FeedPage<T>, void, undefined> {
    for await (const page of this.walk()) {
      yield page
      if (!page.meta.ahead) await this.acknowledge(page.checkpoint)
    }
    this.options.signal?.throwIfAborted()
  }

  /**
   * Acknowledges the changes up to `version`; does nothing without a consumer or a version. Retries until `signal` is
   * aborted, and then makes one last attempt, so that an outage neither ends the loop nor keeps an aborted loop running.
   */
  async acknowledge(version: string | undefined): Promise<void> {
    const { consumer, signal } = this.options
    if (consumer === undefined || version === undefined) return
    try {
      if (!signal?.aborted) return await this.put(version, { ...unlimitedRetries, signal })
    } catch (error) {
      if (!signal?.aborted) throw error
    }
    await this.put(version, { retries: 0 }).catch(() => {})
  }

  private async *walk(): AsyncGenerator<FeedPage<T>, void, undefined> {
    const { consumer, after, wait, signal, onPage, onAhead } = this.options
    const { pauseSeconds = Math.min(earlyPauseSeconds, wait ?? 0) } = this.options
    let checkpoint = after ?? undefined
    let wasAhead = false
    // Creates the consumer if it does not exist; an existing consumer keeps its position.
    if (consumer !== undefined) await this.put(null, { ...unlimitedRetries, signal })
    for (;;) {
      const start = Date.now()
      const { data, meta, response } = await this.read(checkpoint)
      const items = this.source.itemsOf(data)
      // If this breaks: a poll repeats a feed that does not move forward, for ever
      requireForward(items, checkpoint)
      const last = items.at(-1)
      if (last) {
        checkpoint = last.version
        const page = { items, checkpoint, meta }
        onPage?.(page)
        yield page
      } else if (meta.ahead && !wasAhead) {
        onAhead?.({ after: checkpoint, newestVersion: meta.newest_version })
        yield { items, checkpoint: checkpoint ?? '', meta }
      }
      wasAhead = meta.ahead === true
      if (consumer !== undefined) checkpoint = undefined
      if (meta.pagination?.next_cursor) {
        await sleep(rateLimitPause(response.headers), signal)
        continue
      }
      if (!wait) return
      const isEarly = !last && Date.now() - start < (wait - 1) * 1000
      const isLeaving = response.headers.get('connection') === 'close'
      if (isEarly) await sleep(isLeaving ? leavingPauseSeconds : pauseSeconds, signal)
    }
  }

  private read(updated_after: string | undefined): Promise<Answer> {
    const { after: _, pauseSeconds: __, onPage: ___, onAhead: ____, signal, ...query } = this.options
    return this.transport.send('GET', this.source.path, {
      query: { per_page: 100, ...query, updated_after },
      signal,
      ...unlimitedRetries,
      accepts: (data) => isFeed(this.source.itemsOf(data ?? {})),
    })
  }

  private async put(acknowledged: string | null, options: RequestOptions): Promise<void> {
    const path = `${this.source.consumers}/${segment(this.options.consumer as string)}`
    await this.transport.send('PUT', path, { ...options, body: { acknowledged } })
  }
}
