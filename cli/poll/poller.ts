import type { FeedPage } from '../../client/src/index.ts'
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
  /** Keep one request open in which the service waits; after a pause, if it cannot. */
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

/** The longest that the service holds a request (decisions §16). */
const waitSeconds = 30

/**
 * Follows a feed: each change is handled, then saved, and what was saved of a page is kept before the next one.
 *
 * @throws Error when a page does not move forward: then it is not this feed, and continuing could skip changes
 */
export async function poll<T extends Item>(options: PollOptions<T>): Promise<void> {
  const { client, feed, filters, checkpoint, atTheEnd, progress, stop } = options
  const wait = atTheEnd.end === 'follow' ? waitSeconds : undefined
  let after = checkpoint.version
  let handled = 0
  let isCaughtUp = false
  // What the client does not wait out, a page of a proxy where the service was, is waited out here.
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

/** Handles the changes of a page until it is stopped; returns how many. */
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
