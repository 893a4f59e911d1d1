import type { Answer } from './answer.ts'
import { segment } from './call.ts'
import { pauseFor, sleep } from './pause.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** Where a feed begins: after a version, or at the place of a consumer, which the service keeps. */
export type FeedPosition<Filters> =
  | ({ after?: string | null | undefined; consumer?: never } & Filters)
  // What a filter hides would be acknowledged unseen.
  | ({ consumer: string; after?: never } & { [name in keyof Filters]?: never })

/** How a feed is followed. */
export interface FeedPace {
  /** Seconds (1 to 30) that the service holds a request while nothing is new; the loop never ends then. */
  wait?: number | undefined
  /** Seconds to rest after an empty page that came before `wait` was over, because the service holds too much; 5 by default. */
  pauseSeconds?: number | undefined
  /** Ends the loop with its reason, at the next item or request. */
  signal?: AbortSignal | undefined
  per_page?: number | undefined
}

export interface FeedPage<T> {
  items: T[]
  /** The version to go on after, once these are handled. */
  checkpoint: string
  meta: Answer['meta']
}

interface Source<T> {
  path: string
  consumers: string
  itemsOf(data: Answer['data']): T[]
}

/** An outage does not end a feed. */
const patiently = { retries: Number.POSITIVE_INFINITY }
/** An empty page came before its time: the service has no room for the request. */
const earlyPauseSeconds = 5
/** The process that answered shuts down; by then another one has taken over. */
const leavingPauseSeconds = 1

function isFeed(items: unknown): boolean {
  return Array.isArray(items) && items.every((item) => typeof item?.version === 'string')
}

/**
 * @param after the version that the page was asked for after
 * @throws Error for a page that does not move forward: going on could repeat for ever, or skip changes
 */
function requireForward(items: { version: string }[], after = ''): void {
  let last = after
  for (const { version } of items) {
    if (version <= last) throw new Error(`The feed does not move forward: "${version}" after "${last}"`)
    last = version
  }
}

/**
 * All that is new or changed, each change once: pages, limits and faults are taken care of until `signal`. A consumer is
 * acknowledged when the loop asks for the next page; where it is left, up to the change before the one in hand.
 */
export class Feed<T extends { version: string }> implements AsyncIterable<T> {
  constructor(
    private readonly transport: Transport,
    private readonly source: Source<T>,
    private readonly options: FeedPosition<object> & FeedPace,
  ) {
    const { consumer, wait: _, pauseSeconds: __, signal: ___, per_page: ____, ...others } = options
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

  /** The same page by page; a page is acknowledged when the next one is asked for. */
  async *pages(): AsyncGenerator<FeedPage<T>, void, undefined> {
    for await (const page of this.walk()) {
      yield page
      await this.acknowledge(page.checkpoint)
    }
    this.options.signal?.throwIfAborted()
  }

  private async *walk(): AsyncGenerator<FeedPage<T>, void, undefined> {
    const {
      consumer,
      after,
      wait,
      pauseSeconds = Math.min(earlyPauseSeconds, wait ?? 0),
      signal,
    } = this.options
    let checkpoint = after ?? undefined
    // Creates the consumer if there is none; one that there is stays where it is.
    if (consumer !== undefined) await this.put(null, { ...patiently, signal })
    for (;;) {
      const start = Date.now()
      const { data, meta, response } = await this.read(checkpoint)
      const items = this.source.itemsOf(data)
      requireForward(items, checkpoint)
      const last = items.at(-1)
      if (last) {
        checkpoint = last.version
        yield { items, checkpoint, meta }
      }
      if (consumer !== undefined) checkpoint = undefined
      if (meta.pagination?.next_cursor) {
        await sleep(pauseFor(response.headers), signal)
        continue
      }
      if (!wait) return
      const isEarly = !last && Date.now() - start < (wait - 1) * 1000
      const isLeaving = response.headers.get('connection') === 'close'
      if (isEarly) await sleep(isLeaving ? leavingPauseSeconds : pauseSeconds, signal)
    }
  }

  private read(updated_after: string | undefined): Promise<Answer> {
    const { after: _, pauseSeconds: __, signal, ...query } = this.options
    return this.transport.send('GET', this.source.path, {
      ...{ query: { per_page: 100, ...query, updated_after }, signal, ...patiently },
      accepts: (data) => isFeed(this.source.itemsOf(data ?? {})),
    })
  }

  /** Tries until `signal`, and once more after it: an outage neither ends a loop nor keeps it from ending. */
  private async acknowledge(version: string | undefined): Promise<void> {
    const { consumer, signal } = this.options
    if (consumer === undefined || version === undefined) return
    try {
      if (!signal?.aborted) return await this.put(version, { ...patiently, signal })
    } catch (error) {
      if (!signal?.aborted) throw error
    }
    await this.put(version, { retries: 0 }).catch(() => {})
  }

  private async put(acknowledged: string | null, options: RequestOptions): Promise<void> {
    const path = `${this.source.consumers}/${segment(this.options.consumer as string)}`
    await this.transport.send('PUT', path, { ...options, body: { acknowledged } })
  }
}
