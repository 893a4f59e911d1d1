/** What a key has seen once it got a page without filters. */
interface SeenPage {
  /** The version after which the reader's walk started; null for the beginning of the feed. */
  start: Date | null
  /** The version of the page's last row; null if the page was empty. */
  last: Date | null
  now: Date
}

/**
 * Returns the version up to which a page shows that its key has read the whole feed; null if it shows nothing.
 *
 * Once a page has been read, no change can appear before its last row. An empty page shows that nothing has changed
 * since the start of its walk, but if the walk started at the beginning of the feed, there is nothing to have read.
 */
export function readVersion({ start, last, now }: SeenPage): Date | null {
  if (last) return last
  if (!start) return null
  // A start in the future must not mark later changes as read. The next change may have the current second as its
  // version.
  return new Date(Math.min(start.getTime(), now.getTime() - 1000))
}
