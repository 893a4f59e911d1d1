import type { FeedItem } from '../../src/feed/schema.ts'
import { type PartnerClient, PartnerError, UnreachableError } from '../client.ts'
import { note } from '../output.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Handler } from './handlers.ts'
import { pauseFor } from './pace.ts'
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
}

const perPage = 100
const longestPauseSeconds = 60

/**
 * Follows the feed. Every request asks for what came after the last change handled: versions are unique
 * and ascend, so the first page after a version is always the right next page, whatever moved meanwhile.
 */
export async function poll(options: PollOptions): Promise<void> {
  const { checkpoint, handle, intervalSeconds, progress } = options
  const stop = stopOnSignal()
  let after = checkpoint.version
  let handled = 0
  while (!stop.requested) {
    const { items, total, pauseSeconds } = await fetchPatiently(options, after, stop)
    for (const [index, item] of items.entries()) {
      if (stop.requested) break
      await handle(item)
      await checkpoint.save(item.version)
      after = item.version
      handled += 1
      progress.update(handled, total - index - 1)
    }
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

/** The next changes, how many there are in all, and how long to wait before asking for more. */
interface Batch {
  items: FeedItem[]
  total: number
  pauseSeconds: number
}

async function fetchPatiently(
  { client, path, filters }: PollOptions,
  after: string | undefined,
  stop: StopSignal,
): Promise<Batch> {
  const query = { ...filters, updated_after: after, per_page: perPage }
  for (let attempt = 0; !stop.requested; attempt += 1) {
    try {
      const { data, meta, headers } = await client.send<{ Bookings: FeedItem[] }>('GET', path, { query })
      return { items: data.Bookings, total: meta.pagination?.total ?? 0, pauseSeconds: pauseFor(headers) }
    } catch (error) {
      const pause = pauseAfter(error, attempt)
      if (pause === null) throw error
      note(`${(error as Error).message}; trying again in ${pause.toFixed(1)} s`)
      await stop.sleep(pause)
    }
  }
  return { items: [], total: 0, pauseSeconds: 0 }
}

/** Seconds to wait before the next try, or null for an error that no waiting mends. */
function pauseAfter(error: unknown, attempt: number): number | null {
  if (error instanceof PartnerError && error.retryAfterSeconds) return error.retryAfterSeconds
  const isPassing =
    error instanceof UnreachableError || (error instanceof PartnerError && error.status >= 500)
  return isPassing ? Math.random() * Math.min(longestPauseSeconds, 2 ** attempt) : null
}

interface StopSignal {
  requested: boolean
  /** Sleeps, but no longer than until the signal. */
  sleep(seconds: number): Promise<void>
}

/** The first SIGINT or SIGTERM ends the poll after the change in hand. */
function stopOnSignal(): StopSignal {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop: StopSignal = {
    requested: false,
    sleep: (seconds) => Promise.race([Bun.sleep(seconds * 1000), promise]),
  }
  const request = () => {
    stop.requested = true
    resolve()
  }
  process.once('SIGINT', request)
  process.once('SIGTERM', request)
  return stop
}
