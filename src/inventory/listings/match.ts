/** How a sent listing was recognized as one that the host already has (decisions §5). */
export interface Match {
  method: 'original_id' | 'original_url'
  confidence: { level: 'high'; score: number }
}

/** The two fields by which a listing is recognized. */
export interface MatchFields {
  original_id?: string | null
  original_url?: string | null
}

/** Reads the two fields from a body that has not been validated. */
export function recognizableIn({ original_id, original_url }: Record<string, unknown>): MatchFields {
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return { original_id: text(original_id), original_url: text(original_url) }
}

/**
 * Compares a sent listing with an existing listing of the same host. If both have an `original_id`, it decides;
 * otherwise, `original_url` decides. There is no fuzzier rule, because a wrong merge is worse than a duplicate.
 */
export function matchListing(sent: MatchFields, existing: MatchFields): Match | null {
  if (sent.original_id && existing.original_id) {
    return sent.original_id === existing.original_id ? high('original_id', 1) : null
  }
  if (sent.original_url && sent.original_url === existing.original_url) return high('original_url', 0.95)
  return null
}

/** Returns the best match, or null. `original_id` beats `original_url`; otherwise, the first match wins. */
export function bestMatch<T>(
  sent: MatchFields,
  existing: T[],
  read: (listing: T) => MatchFields,
): { listing: T; match: Match } | null {
  const matches = existing.flatMap((listing) => {
    const match = matchListing(sent, read(listing))
    return match ? [{ listing, match }] : []
  })
  return matches.find(({ match }) => match.method === 'original_id') ?? matches[0] ?? null
}

function high(method: Match['method'], score: number): Match {
  return { method, confidence: { level: 'high', score } }
}
