import { toTimestamp } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { DomainError, notFound } from '../errors.ts'
import { indexKey } from '../infra/index-key.ts'
import { breaksUniqueIndex, failedWrites, type Session } from '../infra/mongo.ts'
import { whole } from '../schema/normalize.ts'
import { bestMatch, type Match } from './match.ts'
import {
  indexFieldsOf,
  type ListingContent,
  listingModel,
  originalIdIndex,
  type StoredListing,
} from './model.ts'
import { type Listing, type ListingStatus, listingStatuses } from './schema.ts'
import { ListingPatch } from './shape.ts'

type Store = Pick<Deps, 'db' | 'clock'>

/** Queue and lock of all writes to a host's listings. */
export function listingLock(hostId: number): string {
  return `listings/${hostId}`
}

/** The listing of this host with this id, or null. */
export function findListingIfAny(
  { db }: Pick<Store, 'db'>,
  hostId: number,
  id: number,
  session: Session | null = null,
): Promise<StoredListing | null> {
  return listingModel(db).findOne({ host_id: hostId, id }).session(session).lean<StoredListing>().exec()
}

/**
 * The listing of this host with this id.
 *
 * @throws DomainError `not_found`, also for an id that is none
 */
export async function findListing(
  store: Pick<Store, 'db'>,
  hostId: number,
  id: number | undefined,
  session: Session | null = null,
): Promise<StoredListing> {
  const listing = id && (await findListingIfAny(store, hostId, id, session))
  if (!listing) throw notFound('Listing')
  return listing
}

/** The listing of this host that a listing sent is taken to be, if any. */
export async function findMatch(
  { db }: Pick<Store, 'db'>,
  hostId: number,
  sent: ListingPatch,
  session: Session | null = null,
): Promise<{ listing: StoredListing; match: Match } | null> {
  const alternatives = [
    ...(sent.original_id ? [{ original_id_key: indexKey(sent.original_id) }] : []),
    ...(sent.original_url ? [{ original_url_key: indexKey(sent.original_url) }] : []),
  ]
  if (alternatives.length === 0) return null
  const candidates = await listingModel(db)
    .find({ host_id: hostId, $or: alternatives })
    .sort({ id: 1 })
    .session(session)
    .lean()
  return bestMatch(sent, candidates, (listing) => listing.content)
}

/** Stores a new listing, as a draft. */
export async function insertListing(
  { db, clock }: Store,
  hostId: number,
  id: number,
  content: ListingContent,
  session: Session,
): Promise<StoredListing> {
  const now = clock()
  const listing: StoredListing = {
    id,
    host_id: hostId,
    unique_id: `lst_${crypto.randomUUID()}`,
    ...statusFields('draft'),
    ...contentFields(content),
    created_at: now,
    updated_at: now,
  }
  await listingModel(db).create([listing], { session })
  return listing
}

/**
 * Stores what a listing has become.
 *
 * @throws DomainError `listing_conflict` when another listing of the host has the `original_id`
 */
export async function replaceContent(
  { db, clock }: Store,
  listing: StoredListing,
  content: ListingContent,
  session: Session,
): Promise<StoredListing> {
  const changed = {
    ...contentFields(content),
    ...(listing.rates_sequence === undefined ? {} : { rates_sequence: listing.rates_sequence }),
    updated_at: clock(),
  }
  const filter = { host_id: listing.host_id, id: listing.id }
  try {
    await listingModel(db).updateOne(filter, { $set: changed }, { session })
  } catch (error) {
    throw breaksUniqueIndex(error, originalIdIndex) ? originalIdTaken() : error
  }
  return { ...listing, ...changed }
}

/** What {@link writePrices} needs to know of a listing. */
export type PricedListing = Pick<StoredListing, 'id' | 'host_id' | 'rates_sequence'> & {
  content: { room_types: { id: number }[] }
}

/** The listings of this host with these ids, as far as their prices are concerned. */
export function findPricedListings(
  { db }: Pick<Store, 'db'>,
  hostId: number,
  ids: number[],
): Promise<PricedListing[]> {
  const columns = { id: 1, host_id: 1, rates_sequence: 1, 'content.room_types.id': 1 }
  return listingModel(db)
    .find({ host_id: hostId, id: { $in: ids } }, columns)
    .lean<PricedListing[]>()
    .exec()
}

/** Prices to be written into one listing. */
export interface PriceChange {
  listing: PricedListing
  /** By room type id. */
  prices: Map<number, object>
  /** The place of the last rates among them. */
  sequence: number
}

/**
 * Writes prices into listings and nothing else of them; a listing into which rates were written since it was read
 * is left alone.
 *
 * @returns the errors of those that could not be written, by listing id
 */
export async function writePrices(
  { db, clock }: Store,
  changes: PriceChange[],
): Promise<Map<number, unknown>> {
  const updated_at = clock()
  const writes = changes.map(({ listing, prices, sequence }) => ({
    updateOne: {
      filter: {
        ...{ host_id: listing.host_id, id: listing.id },
        rates_sequence: listing.rates_sequence ?? { $exists: false },
      },
      update: { $set: { ...pricePaths(listing, prices), rates_sequence: sequence, updated_at } },
    },
  }))
  try {
    if (writes.length > 0) await listingModel(db).collection.bulkWrite(writes, { ordered: false })
    return new Map()
  } catch (error) {
    return failedWrites(error).reduce(
      (failed, { index, message }) => failed.set(changes[index]?.listing.id as number, message),
      new Map<number, unknown>(),
    )
  }
}

function pricePaths({ content }: PricedListing, prices: Map<number, object>): Record<string, unknown> {
  return Object.fromEntries(
    content.room_types.flatMap((roomType, index) =>
      Object.entries(prices.get(roomType.id) ?? {}).map(([month, price]) => [
        `content.room_types.${index}.prices.${month}`,
        price,
      ]),
    ),
  )
}

function originalIdTaken(): DomainError {
  const message = 'Another listing has this "original_id"'
  return new DomainError('listing_conflict', message, [{ path: 'original_id', code: 'conflict', message }])
}

function contentFields(content: ListingContent) {
  return { content, ...indexFieldsOf(content) }
}

function statusFields(status: ListingStatus) {
  return { listing_status: status, status_rank: listingStatuses.indexOf(status) }
}

/**
 * Moves a listing to another status: an administrator's act, of whatever host unless told.
 *
 * @throws DomainError `not_found`
 */
export async function setListingStatus(
  { db, clock }: Store,
  which: { id: number; host_id?: number },
  status: ListingStatus,
): Promise<StoredListing> {
  const changed = { ...statusFields(status), updated_at: clock() }
  const listing = await listingModel(db).findOneAndUpdate(which, { $set: changed }, { new: true }).lean()
  if (!listing) throw notFound('Listing')
  return listing
}

/** A listing as the contract writes it, whole. */
export function toWire(listing: StoredListing): Listing {
  return {
    id: listing.id,
    unique_id: listing.unique_id,
    listing_status: listing.listing_status,
    ...whole(ListingPatch, listing.content),
    created_at: toTimestamp(listing.created_at),
    updated_at: toTimestamp(listing.updated_at),
  }
}
