/** How a sent listing was matched to one of the host's existing listings (decisions §5). */
export interface Match {
  method: 'original_id' | 'original_url'
  confidence: { level: 'high'; score: number }
}

/** The two fields by which a listing is recognized. */
export interface MatchFields {
  original_id?: string | null
  original_url?: string | null
}

/** Returns the two fields from an unvalidated body; a value that is not a string becomes null. */
export function recognizableIn({ original_id, original_url }: Record<string, unknown>): MatchFields {
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return { original_id: text(original_id), original_url: text(original_url) }
}

/**
 * Returns the form in which addresses of listings are compared: as a browser would read them, with the host in lower case
 * and in ASCII, and without the default port. A text that is not an address stays as it is, and null stays null.
 */
export function comparableUrl(url: string | null | undefined): string | null {
  return url ? (URL.parse(url)?.href ?? url) : null
}

/**
 * Compares a submitted listing with one of the host's existing listings; returns null if they do not match. If both
 * have an `original_id`, only that field is compared; otherwise, only `original_url` is. An id is opaque, so it is
 * compared exactly. There is no fuzzy matching, because a wrong merge is worse than a duplicate.
 */
export function matchListing(sent: MatchFields, existing: MatchFields): Match | null {
  if (sent.original_id && existing.original_id) {
    return sent.original_id === existing.original_id ? high('original_id', 1) : null
  }
  const url = comparableUrl(sent.original_url)
  return url !== null && url === comparableUrl(existing.original_url) ? high('original_url', 0.95) : null
}

/**
 * Returns the best match, or null if no listing matches. A match by `original_id` beats a match by `original_url`;
 * otherwise, the first match wins.
 *
 * @param existing listings in the order in which they were created
 */
export function bestMatch<T>(
  sent: MatchFields,
  existing: T[],
  read: (listing: T) => MatchFields,
): { listing: T; match: Match } | null {
  let first: { listing: T; match: Match } | null = null
  for (const listing of existing) {
    const match = matchListing(sent, read(listing))
    if (match?.method === 'original_id') return { listing, match }
    if (match && !first) first = { listing, match }
  }
  return first
}

function high(method: Match['method'], score: number): Match {
  return { method, confidence: { level: 'high', score } }
}
