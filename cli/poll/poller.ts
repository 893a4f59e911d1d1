import type { FeedItem } from '../../src/feed/schema.ts'
import { type PartnerClient, PartnerError, UnreachableError } from '../client.ts'
import { note } from '../output.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Handler } from './handlers.ts'

export interface PollOptions {
  client: PartnerClient
  /** Path of the feed below the versioned root. */
  path: string
  filters: Record<string, string | undefined>
  checkpoint: Checkpoint
  handle: Handler
  /** Pause between polls; null to stop when nothing new is left. */
  intervalSeconds: number | null
}

const perPage = 100
const longestPauseSeconds = 60

/**
 * Follows the feed. Every request asks for what came after the last change handled: versions are unique
 * and ascend, so the first page after a version is always the right next page, whatever moved meanwhile.
 */
export async function poll({
  client,
  path,
  filters,
  checkpoint,
  handle,
  intervalSeconds,
}: PollOptions): Promise<void> {
  const stop = stopOnSignal()
  let after = checkpoint.version
  while (!stop.requested) {
    const items = await fetchPatiently(
      client,
      path,
      { ...filters, updated_after: after, per_page: perPage },
      stop,
    )
    for (const item of items) {
      if (stop.requested) return
      await handle(item)
      await checkpoint.save(item.version)
      after = item.version
    }
    if (items.length === perPage) continue
    if (intervalSeconds === null) return
    await stop.sleep(intervalSeconds)
  }
}

async function fetchPatiently(
  client: PartnerClient,
  path: string,
  query: Record<string, string | number | undefined>,
  stop: StopSignal,
): Promise<FeedItem[]> {
  for (let attempt = 0; !stop.requested; attempt += 1) {
    try {
      const { data } = await client.send<{ Bookings: FeedItem[] }>('GET', path, { query })
      return data.Bookings
    } catch (error) {
      const pause = pauseAfter(error, attempt)
      if (pause === null) throw error
      note(`${(error as Error).message}; trying again in ${pause.toFixed(1)} s`)
      await stop.sleep(pause)
    }
  }
  return []
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
