import { Type } from '@sinclair/typebox'
import type { FeedItem } from '../../src/feed/schema.ts'
import type { PartnerClient } from '../client/client.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Handler } from './handlers.ts'
import { pauseFor } from './pace.ts'
import { type StopSignal, withRetries } from './patience.ts'
import type { Progress } from './progress.ts'

export interface PollOptions {
  client: PartnerClient
  /** Path of the feed below the versioned root. */
  path: string
  filters: Record<string, string | undefined>
  checkpoint: Checkpoint
  handle: Handler
  /** Pause between polls; null to stop when nothing new is left. */
  intervalSeconds: number | null
  progress: Progress
  stop: StopSignal
}

const perPage = 100

/** What the poll relies on; whatever else a later version sends is passed on as it is. */
const FeedData = Type.Object({
  Bookings: Type.Array(
    Type.Object({
      booking_id: Type.Integer(),
      status: Type.String(),
      version: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$' }),
    }),
  ),
})

/**
 * Follows the feed. Every request asks for what comes after the last change handled: versions are unique and
 * ascending, so the first page after a version is always the right next page, whatever moved meanwhile.
 *
 * @throws Error when a page does not move forward: then it is not this feed, and continuing could skip changes
 */
export async function poll(options: PollOptions): Promise<void> {
  const { checkpoint, handle, intervalSeconds, progress, stop } = options
  let after = checkpoint.version
  let handled = 0
  while (!stop.requested) {
    const batch = await withRetries(() => fetchBatch(options, after), stop)
    if (!batch) break
    const { items, total, pauseSeconds } = batch
    requireForward(items, after)
    for (const [index, item] of items.entries()) {
      if (stop.requested) break
      await handle(item)
      checkpoint.save(item.version)
      after = item.version
      handled += 1
      progress.update(handled, total - index - 1)
    }
    await checkpoint.sync()
    if (stop.requested) break
    if (items.length === perPage) {
      await stop.sleep(pauseSeconds)
      continue
    }
    if (intervalSeconds === null) break
    handled = 0
    await stop.sleep(intervalSeconds)
  }
  progress.stop()
}

/** The next changes, how many there are in total, and how long to wait before asking for more. */
interface Batch {
  items: FeedItem[]
  total: number
  pauseSeconds: number
}

async function fetchBatch({ client, path, filters }: PollOptions, after: string | undefined): Promise<Batch> {
  const query = { ...filters, updated_after: after, per_page: perPage }
  const { data, meta, headers } = await client.send<{ Bookings: FeedItem[] }>('GET', path, {
    query,
    expects: FeedData,
  })
  return { items: data.Bookings, total: meta.pagination?.total ?? 0, pauseSeconds: pauseFor(headers) }
}

function requireForward(items: FeedItem[], after = ''): void {
  let last = after
  for (const { version, booking_id } of items) {
    if (version <= last)
      throw new Error(
        `The feed does not move forward: booking ${booking_id} has version "${version}" after "${last}"`,
      )
    last = version
  }
}
