import type { Db, Session } from '../../platform/mongo/connection.ts'
import { indexKey } from '../../platform/mongo/index-key.ts'
import { comparableUrl, type ListingWithPrices, listingModel } from './model.ts'
import { findListingIfAny, findListingWith } from './store.ts'

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

/** Returns the host's listing with this `original_id`, which every listing that is sent with it matches; null without one. */
export async function findByOriginalId(
  db: Db,
  ownerId: number,
  original_id: string | null | undefined,
): Promise<ListingWithPrices | null> {
  const original_id_key = indexKey(original_id)
  if (original_id_key === null) return null
  const listing = await findListingWith(db, { owner_id: ownerId, original_id_key })
  return listing?.content.original_id === original_id ? listing : null
}

/** Returns the host's listing that a sent listing matches, or null if there is none (decisions §5). */
export async function findMatch(
  db: Db,
  ownerId: number,
  sent: MatchFields,
  session: Session | null = null,
): Promise<{ listing: ListingWithPrices; match: Match } | null> {
  const original_id_key = indexKey(sent.original_id)
  const original_url_key = indexKey(comparableUrl(sent.original_url))
  const alternatives = [
    ...(original_id_key ? [{ original_id_key }] : []),
    ...(original_url_key ? [{ original_url_key }] : []),
  ]
  if (alternatives.length === 0) return null
  // Many listings may have the same `original_url`, so only the match is read in full.
  const projection = { id: 1, 'content.original_id': 1, 'content.original_url': 1 }
  const candidates = await listingModel(db)
    .find({ owner_id: ownerId, $or: alternatives }, projection)
    .sort({ id: 1 })
    .session(session)
    .lean()
  const found = bestMatch(sent, candidates, ({ content }) => content)
  if (!found) return null
  const listing = await findListingIfAny(db, ownerId, found.listing.id, session)
  return listing ? { listing, match: found.match } : null
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
