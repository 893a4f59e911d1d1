import { pauseFor } from '../../client/src/pace.ts'
import type { PartnerClient } from '../client/client.ts'
import { note } from '../output.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Feed, Item } from './feeds.ts'
import type { Handler } from './handlers.ts'
import { type StopSignal, withRetries } from './patience.ts'
import type { Progress } from './progress.ts'

/** The end of a poll, when nothing new is left. */
export type AtTheEnd =
  | { end: 'stop' }
  /** Ask again after a pause. */
  | { end: 'pause'; seconds: number }
  /** Keep one request open in which the service waits; where it does not, pause. */
  | { end: 'follow'; seconds: number }

export interface PollOptions<T extends Item> {
  client: PartnerClient
  feed: Feed<T>
  filters: Record<string, string | undefined>
  checkpoint: Checkpoint
  handle: Handler<T>
  atTheEnd: AtTheEnd
  progress: Progress
  stop: StopSignal
}

const perPage = 100
/** The longest that the service holds a request (decisions §16). */
const waitSeconds = 30
/** A process that shuts down responds early; by then another one has taken over. */
const afterShutdownSeconds = 1

/**
 * Follows a feed. Every request asks for what comes after the last change handled: versions are unique and
 * ascending, so the first page after a version is always the right next page, whatever moved meanwhile.
 *
 * @throws Error when a page does not move forward: then it is not this feed, and continuing could skip changes
 */
export async function poll<T extends Item>(options: PollOptions<T>): Promise<void> {
  const { feed, checkpoint, handle, atTheEnd, progress, stop } = options
  let after = checkpoint.version
  let handled = 0
  let isCaughtUp = false
  while (!stop.requested) {
    const batch = await withRetries(() => fetchBatch(options, after), stop)
    if (!batch) break
    const { items, total, pauseSeconds } = batch
    requireForward(feed, items, after)
    for (const [index, item] of items.entries()) {
      if (stop.requested) break
      await handle(item)
      checkpoint.save(item.version)
      after = item.version
      handled += 1
      progress.update(handled, total - index - 1)
    }
    await withRetries(() => checkpoint.sync(), stop)
    if (stop.requested) break
    if (items.length === perPage) {
      await stop.sleep(pauseSeconds)
      continue
    }
    if (atTheEnd.end === 'stop') break
    if (!isCaughtUp && atTheEnd.end === 'follow') noteOnTerminal('Up to date; waiting for changes')
    isCaughtUp = true
    handled = 0
    await stop.sleep(pauseAfter(batch, atTheEnd))
  }
  progress.stop()
}

/** The next changes, how many there are in total, and how long to wait before asking for more. */
interface Batch<T> {
  items: T[]
  total: number
  pauseSeconds: number
  /** How long the service took to respond. */
  tookSeconds: number
  /** The process that responded is shutting down. */
  isLeaving: boolean
}

/** An empty response before its time must not be followed by the next request at once, or the poll would spin. */
function pauseAfter<T>({ items, tookSeconds, isLeaving }: Batch<T>, atTheEnd: AtTheEnd): number {
  if (atTheEnd.end !== 'follow') return atTheEnd.end === 'pause' ? atTheEnd.seconds : 0
  if (items.length > 0 || tookSeconds > waitSeconds - 1) return 0
  return isLeaving ? Math.min(afterShutdownSeconds, atTheEnd.seconds) : atTheEnd.seconds
}

async function fetchBatch<T extends Item>(
  { client, feed, filters, atTheEnd, stop }: PollOptions<T>,
  after: string | undefined,
): Promise<Batch<T>> {
  const wait = atTheEnd.end === 'follow' ? waitSeconds : undefined
  const start = performance.now()
  const { data, meta, headers } = await client.send('GET', feed.path, {
    query: { ...filters, updated_after: after, per_page: perPage, wait },
    expects: feed.data,
    signal: stop.signal,
  })
  return {
    items: feed.itemsOf(data),
    total: meta.pagination?.total ?? 0,
    pauseSeconds: pauseFor(headers),
    tookSeconds: (performance.now() - start) / 1000,
    isLeaving: headers.get('connection') === 'close',
  }
}

function requireForward<T extends Item>(feed: Feed<T>, items: T[], after = ''): void {
  let last = after
  for (const item of items) {
    if (item.version <= last)
      throw new Error(
        `The feed does not move forward: ${feed.describe(item)} has version "${item.version}" after "${last}"`,
      )
    last = item.version
  }
}

function noteOnTerminal(text: string): void {
  if (process.stderr.isTTY) note(text)
}
