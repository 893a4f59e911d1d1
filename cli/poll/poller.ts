import type { FeedPage } from '../../client/src/index.ts'
import type { PartnerClient } from '../client/client.ts'
import { note } from '../output.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Feed, Item } from './feeds.ts'
import type { Handler } from './handlers.ts'
import { type StopSignal, withRetries } from './patience.ts'
import type { Progress } from './progress.ts'

/** What a poll does once it has read all changes. */
export type AtTheEnd =
  | { end: 'stop' }
  /** Poll again after a pause. */
  | { end: 'pause'; seconds: number }
  /** Keep one request open while the service waits for a change; pause first if the service cannot wait. */
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

/** Maximum time that the service holds a request, in seconds (decisions §16). */
const waitSeconds = 30

/**
 * Follows a feed. Handles each change and then saves its version; the saved version is synced before the next page.
 *
 * @throws Error if a page does not move forward; such a page is not from this feed, and continuing could skip changes
 */
export async function poll<T extends Item>(options: PollOptions<T>): Promise<void> {
  const { client, feed, filters, checkpoint, atTheEnd, progress, stop } = options
  const wait = atTheEnd.end === 'follow' ? waitSeconds : undefined
  let after = checkpoint.version
  let handled = 0
  let isCaughtUp = false
  // `withRetries` also waits out failures that end the client's own loop, such as a proxy's error page.
  const follow = async () => {
    const { signal } = stop
    const pauseSeconds = atTheEnd.end === 'follow' ? atTheEnd.seconds : undefined
    for await (const page of client.pages<T>(feed.name, { after, filters, wait, pauseSeconds, signal })) {
      handled += await handlePage(page, handled, options, (version) => {
        after = version
      })
      if (stop.requested) return
      if (wait === undefined || page.meta.pagination?.next_cursor) continue
      if (!isCaughtUp && process.stderr.isTTY) note('Up to date; waiting for changes')
      isCaughtUp = true
      handled = 0
    }
  }
  while (!stop.requested) {
    await withRetries(follow, stop)
    if (atTheEnd.end !== 'pause') break
    handled = 0
    await stop.sleep(atTheEnd.seconds)
  }
  progress.stop()
}

/** Handles a page's changes until the poll is stopped; returns the number of handled changes. */
async function handlePage<T extends Item>(
  { items, meta }: FeedPage<T>,
  before: number,
  { checkpoint, handle, progress, stop }: PollOptions<T>,
  onHandled: (version: string) => void,
): Promise<number> {
  const total: number = meta.pagination?.total ?? items.length
  let count = 0
  for (const item of items) {
    if (stop.requested) break
    await handle(item)
    checkpoint.save(item.version)
    onHandled(item.version)
    count += 1
    progress.update(before + count, total - count)
  }
  await withRetries(() => checkpoint.sync(), stop)
  return count
}
