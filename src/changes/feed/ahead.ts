import { readHostClock } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Feed } from '../feeds.ts'
import type { Page } from './feed-page.ts'

/** How far a start may be ahead of both the feed and the clock. A reader's own clock may be wrong by less. */
const toleratedMilliseconds = 300_000

/** Where the feed is that a reader is ahead of. */
export interface Ahead {
  /** Version of the feed's newest row; null if it has none. */
  newest: Date | null
}

/**
 * Tells a reader that is ahead of the feed from one without news (decisions §9); returns null for any other reader.
 * Without it, a reader with the state of another service, or from before a restore, would get empty pages for years.
 *
 * Only an empty page that starts in the future costs a look at the host's clock.
 */
export async function aheadOf<Row>(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  feed: Feed<Row>,
  ownerId: number,
  { rows, start, after }: Pick<Page<Row>, 'rows' | 'start' | 'after'>,
): Promise<Ahead | null> {
  if (rows.length > 0) return null
  const position = Math.max(start?.getTime() ?? 0, after?.getTime() ?? 0)
  const tolerated = position - toleratedMilliseconds
  if (tolerated <= clock(ownerId).getTime()) return null
  const newest = await readHostClock(db, ownerId, feed.counter)
  if (tolerated <= newest.getTime()) return null
  return { newest: newest.getTime() === 0 ? null : newest }
}
