import mongoose from 'mongoose'
import { toTimestamp } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { DomainError, invalidField, notFound } from '../errors.ts'
import type { Effect } from '../http/idempotency.ts'
import { normalize, whole } from '../http/shape.ts'
import { takeLock } from '../infra/locks.ts'
import { breaksUniqueIndex, inTransaction, type Session } from '../infra/mongo.ts'
import { nextIds } from '../infra/sequences.ts'
import { bestMatch, type Match } from './match.ts'
import { type IdReading, mergeListing, type NewIds } from './merge.ts'
import { type ListingContent, listingModel, type StoredListing } from './model.ts'
import { type Listing, ListingCreate, ListingPatch, type ListingStatus, listingStatuses } from './schema.ts'

type Store = Pick<Deps, 'db' | 'clock'>

/** What a create or update did. */
export interface ListingWrite {
  action: 'created' | 'updated'
  listing: StoredListing
}

/** Stored documents may not pass 16 MiB; a listing stays well below. */
const maximumStoredBytes = 8 * 1024 * 1024

/**
 * Readies `POST /v1/listings`: updates the host's listing that matches, or creates one. All such writes of a
 * host take turns, so that equal creates at once make one listing.
 *
 * @throws DomainError `validation`; on running `listing_conflict` when the match is inactive
 */
export async function prepareListing(
  { db, clock }: Store,
  hostId: number,
  body: unknown,
): Promise<Effect<ListingWrite>> {
  const sent = normalize(ListingCreate, body)
  const queue = listingQueue(hostId)
  const seen = await findMatch({ db }, hostId, sent)
  const ids = await reserveIds(db, seen?.listing.content ?? null, sent, 'partner')
  const newListingId = seen ? undefined : await nextIds(db, 'listing')
  return {
    queue,
    async run(session) {
      await takeLock(db, session, queue)
      const found = await findMatch({ db }, hostId, sent, session)
      if (found) {
        const { listing, match } = found
        if (listing.listing_status === 'inactive') throw inactiveMatch(listing, match)
        const change = { sent, reading: 'partner', ids: ids() } as const
        return { action: 'updated', listing: await update({ db, clock }, listing, change, session) }
      }
      if (newListingId === undefined) throw changedMeanwhile()
      const content = merge(null, { sent, reading: 'partner', ids: ids() })
      const listing = newListing(newListingId, hostId, content, clock())
      await listingModel(db).create([listing], { session })
      return { action: 'created', listing }
    },
  }
}

/**
 * Changes the fields sent of one listing and leaves all others.
 *
 * @throws DomainError `not_found`, `validation`, or `listing_conflict` when another listing has the `original_id`
 */
export async function patchListing(
  { db, clock }: Store,
  hostId: number,
  id: number | undefined,
  body: unknown,
): Promise<ListingWrite> {
  const sent = normalize(ListingPatch, body)
  const queue = listingQueue(hostId)
  const { content } = await findListing({ db }, hostId, id)
  const ids = await reserveIds(db, content, sent, 'internal')
  return inTransaction(db, queue, async (session) => {
    await takeLock(db, session, queue)
    const listing = await findListing({ db }, hostId, id, session)
    const change = { sent, reading: 'internal', ids: ids() } as const
    return { action: 'updated', listing: await update({ db, clock }, listing, change, session) }
  })
}

function listingQueue(hostId: number): string {
  return `listings/${hostId}`
}

/**
 * The listing of this host with this id.
 *
 * @throws DomainError `not_found`, also for an id that is none
 */
export async function findListing(
  { db }: Pick<Store, 'db'>,
  hostId: number,
  id: number | undefined,
  session: Session | null = null,
): Promise<StoredListing> {
  const listing = id && (await listingModel(db).findOne({ host_id: hostId, id }).session(session).lean())
  if (!listing) throw notFound('Listing')
  return listing
}

async function findMatch(
  { db }: Pick<Store, 'db'>,
  hostId: number,
  sent: ListingPatch,
  session: Session | null = null,
) {
  const alternatives = [
    ...(sent.original_id ? [{ 'content.original_id': sent.original_id }] : []),
    ...(sent.original_url ? [{ 'content.original_url': sent.original_url }] : []),
  ]
  if (alternatives.length === 0) return null
  const candidates = await listingModel(db)
    .find({ host_id: hostId, $or: alternatives })
    .sort({ id: 1 })
    .session(session)
    .lean()
  return bestMatch(sent, candidates, (listing) => listing.content)
}

/** What is laid over a listing, and the ids for what is new in it. */
interface Change {
  sent: ListingPatch
  reading: IdReading
  ids: NewIds
}

function newListing(id: number, hostId: number, content: ListingContent, now: Date): StoredListing {
  return {
    id,
    host_id: hostId,
    unique_id: `lst_${crypto.randomUUID()}`,
    ...statusFields('draft'),
    ...contentFields(content),
    created_at: now,
    updated_at: now,
  }
}

async function update(
  { db, clock }: Store,
  listing: StoredListing,
  change: Change,
  session: Session,
): Promise<StoredListing> {
  const changed = { ...contentFields(merge(listing.content, change)), updated_at: clock() }
  try {
    await listingModel(db).updateOne(
      { host_id: listing.host_id, id: listing.id },
      { $set: changed },
      { session },
    )
  } catch (error) {
    throw breaksUniqueIndex(error, 'listing_original_id') ? originalIdTaken() : error
  }
  return { ...listing, ...changed }
}

function merge(current: ListingContent | null, { sent, reading, ids }: Change): ListingContent {
  const content = mergeListing(current, sent, reading, ids)
  if (mongoose.mongo.BSON.calculateObjectSize(content) > maximumStoredBytes) {
    throw invalidField('room_types', `The listing must be at most ${maximumStoredBytes} bytes`, 'max')
  }
  return content
}

/**
 * Takes ids for the new room types and rooms before the transaction, where no id may be taken: none when a
 * merge with what is stored now shows nothing new, else one for every element sent. The function it gives
 * starts over at the first of them, once for every try of the transaction.
 */
async function reserveIds(
  db: Store['db'],
  current: ListingContent | null,
  sent: ListingPatch,
  reading: IdReading,
): Promise<() => NewIds> {
  const needed = { roomTypes: 0, rooms: 0 }
  mergeListing(current, sent, reading, { roomType: () => ++needed.roomTypes, room: () => ++needed.rooms })
  const isNew = needed.roomTypes + needed.rooms > 0
  const roomTypes = isNew ? (sent.room_types?.length ?? 0) : 0
  const rooms = isNew ? (sent.room_types ?? []).reduce((sum, { rooms }) => sum + (rooms?.length ?? 0), 0) : 0
  const firstRoomType = roomTypes > 0 ? await nextIds(db, 'room_type', roomTypes) : 0
  const firstRoom = rooms > 0 ? await nextIds(db, 'room', rooms) : 0
  return () => ({ roomType: counter(firstRoomType, roomTypes), room: counter(firstRoom, rooms) })
}

function counter(first: number, amount: number): () => number {
  let next = first
  return () => {
    if (next === first + amount) throw changedMeanwhile()
    return next++
  }
}

/** Between the look before the transaction and the transaction itself, another request changed what matches. */
function changedMeanwhile(): DomainError {
  return new DomainError('conflict', 'Another request is changing the same listing; try again', [], 1)
}

function contentFields(content: ListingContent) {
  return { content, name_key: content.name.toLowerCase() }
}

function statusFields(status: ListingStatus) {
  return { listing_status: status, status_rank: listingStatuses.indexOf(status) }
}

/**
 * Moves a listing, of whatever host, to another status: an administrator's act.
 *
 * @throws DomainError `not_found`
 */
export async function setListingStatus(
  { db, clock }: Store,
  id: number,
  status: ListingStatus,
): Promise<StoredListing> {
  const changed = { ...statusFields(status), updated_at: clock() }
  const listing = await listingModel(db).findOneAndUpdate({ id }, { $set: changed }, { new: true }).lean()
  if (!listing) throw notFound('Listing')
  return listing
}

function inactiveMatch(listing: StoredListing, { method, confidence }: Match): DomainError {
  const entries: [string, string][] = [
    ['action', 'skipped'],
    ['listing_id', String(listing.id)],
    ['match.matched', 'true'],
    ['match.method', method],
    ['match.confidence.level', confidence.level],
    ['match.confidence.score', String(confidence.score)],
  ]
  return new DomainError(
    'listing_conflict',
    'The listing matches one that is inactive',
    entries.map(([path, message]) => ({ path, code: 'conflict', message })),
  )
}

function originalIdTaken(): DomainError {
  const message = 'Another listing has this "original_id"'
  return new DomainError('listing_conflict', message, [{ path: 'original_id', code: 'conflict', message }])
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
