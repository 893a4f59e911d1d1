import { DomainError, invalidField } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { IdSource } from '../../http/ids.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import { ensureLock, takeLock } from '../../platform/mongo/locks.ts'
import { inTransaction, type UnitOfWork } from '../../platform/mongo/transactions.ts'
import type { ListingPatch } from './fields.ts'
import type { Match } from './match.ts'
import { type IdReading, mergeListing, type NewIds } from './merge.ts'
import type { ListingContent, StoredListing } from './model.ts'
import { withPrices } from './prices-store.ts'
import { changeFields, findListing, findMatch, insertListing, listingLock, replaceContent } from './store.ts'

/** The result of a create or update. */
export interface ListingWrite {
  action: 'created' | 'updated'
  listing: StoredListing
}

/**
 * Maximum size of a listing as JSON, in bytes (decisions §5). The service holds the whole JSON in memory while a slow
 * client reads it.
 */
const maxBytes = 1024 * 1024

/**
 * Maximum number of rooms in a listing, over all room types. A page contains up to 100 listings with all of their
 * rooms.
 */
const maxRooms = 2000

/**
 * Prepares the write of `POST /v1/listings`, which updates the host's matching listing or, if there is none, creates a
 * new one. Such writes run one at a time per host, so that concurrent identical creates result in a single listing.
 *
 * @throws DomainError `validation`; when run, also `listing_conflict` if the match is inactive, or `conflict` with a
 * retry time if a concurrent request changed the listing
 */
export async function prepareListing(
  { db, clock, ids: source }: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  ownerId: number,
  sent: ListingPatch,
): Promise<UnitOfWork<ListingWrite>> {
  const lock = listingLock(ownerId)
  const [seen] = await Promise.all([findMatch(db, ownerId, sent), ensureLock(db, lock)])
  const ids = await reserveIds(source, seen?.listing.content ?? null, sent, 'partner')
  const newListingId = seen ? undefined : await source('listing')
  return {
    queue: lock.name,
    async run(session) {
      await takeLock(db, session, lock)
      const found = await findMatch(db, ownerId, sent, session)
      if (found) {
        if (found.listing.listing_status === 'inactive') throw inactiveMatch(found.listing, found.match)
        const change = { sent, reading: 'partner', ids: ids() } as const
        return update({ db, clock }, found.listing, change, session)
      }
      if (newListingId === undefined) throw changedMeanwhile()
      const content = merge(null, { sent, reading: 'partner', ids: ids() })
      const listing = await insertListing({ db, clock }, ownerId, { id: newListingId, content }, session)
      return { action: 'created', listing }
    },
  }
}

/**
 * Changes the fields of a listing that were sent and leaves all other fields unchanged.
 *
 * @throws DomainError `not_found`; `validation`; `listing_conflict` if another listing has the `original_id`;
 * `conflict` with a retry time if other requests keep changing the listing
 */
export async function patchListing(
  app: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  ownerId: number,
  id: number | undefined,
  sent: ListingPatch,
): Promise<ListingWrite> {
  const { room_types, original_id, original_url } = sent
  const isAlone = !room_types?.length && original_id === undefined && original_url === undefined
  return isAlone ? patchFields(app, ownerId, id, sent) : patchInTurn(app, ownerId, id, sent)
}

/** Maximum number of attempts to change a listing that other requests keep changing. */
const maxPatches = 50

/**
 * Changes fields that no other document depends on. No lock is needed, because the update matches the listing only if
 * its content has not changed since it was read.
 */
async function patchFields(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  ownerId: number,
  id: number | undefined,
  sent: ListingPatch,
): Promise<ListingWrite> {
  for (let patch = 0; patch < maxPatches; patch += 1) {
    const listing = withPrices(await findListing(db, ownerId, id))
    const content = merge(listing.content, { sent, reading: 'internal', ids: newIds(none, none) })
    if (await changeFields({ db, clock }, listing, content))
      return { action: 'updated', listing: { ...listing, content } }
    await Bun.sleep(Math.random() * patch)
  }
  throw changedMeanwhile()
}

async function patchInTurn(
  { db, clock, ids: source }: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  ownerId: number,
  id: number | undefined,
  sent: ListingPatch,
): Promise<ListingWrite> {
  const lock = listingLock(ownerId)
  const mayAdd = (sent.room_types?.length ?? 0) > 0
  const content = mayAdd ? (await findListing(db, ownerId, id)).content : null
  const ids = await reserveIds(source, content, sent, 'internal')
  await ensureLock(db, lock)
  return inTransaction(db, lock.name, async (session) => {
    await takeLock(db, session, lock)
    const change = { sent, reading: 'internal', ids: ids() } as const
    return update({ db, clock }, await findListing(db, ownerId, id, session), change, session)
  })
}

async function update(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  stored: StoredListing,
  change: Change,
  session: Session,
): Promise<ListingWrite> {
  const listing = withPrices(stored)
  const content = merge(listing.content, change)
  await replaceContent({ db, clock }, listing, content, session)
  return { action: 'updated', listing: { ...listing, content } }
}

/** The fields to be merged into a listing, and ids for new room types and rooms. */
interface Change {
  sent: ListingPatch
  reading: IdReading
  ids: NewIds
}

function merge(current: ListingContent | null, { sent, reading, ids }: Change): ListingContent {
  const content = mergeListing(current, sent, reading, ids)
  if (content.room_types.reduce((sum, { rooms }) => sum + rooms.length, 0) > maxRooms)
    throw invalidField('room_types', `A listing must have at most ${maxRooms} rooms`, 'max')
  if (Buffer.byteLength(JSON.stringify(content)) > maxBytes)
    throw invalidField('body', `The listing must be at most ${maxBytes} bytes as JSON`, 'max')
  return content
}

/**
 * Reserves ids for new room types and rooms before the transaction, because ids must not be reserved within it. If a
 * trial merge with the stored content adds no room type or room, no ids are reserved. Otherwise, one id is reserved for
 * each room type and room that was sent. Each transaction attempt calls the returned function, which starts over at the
 * first reserved id.
 */
async function reserveIds(
  source: IdSource,
  current: ListingContent | null,
  sent: ListingPatch,
  reading: IdReading,
): Promise<() => NewIds> {
  const needed = { roomTypes: 0, rooms: 0 }
  mergeListing(current, sent, reading, { roomType: () => ++needed.roomTypes, room: () => ++needed.rooms })
  const isNew = needed.roomTypes + needed.rooms > 0
  const roomTypes = isNew ? (sent.room_types?.length ?? 0) : 0
  const rooms = isNew ? (sent.room_types ?? []).reduce((sum, { rooms }) => sum + (rooms?.length ?? 0), 0) : 0
  const firstRoomType = roomTypes > 0 ? await source('room_type', roomTypes) : 0
  const firstRoom = rooms > 0 ? await source('room', rooms) : 0
  return () => newIds({ first: firstRoomType, amount: roomTypes }, { first: firstRoom, amount: rooms })
}

interface Block {
  first: number
  amount: number
}

const none: Block = { first: 0, amount: 0 }

function newIds(roomTypes: Block, rooms: Block): NewIds {
  return { roomType: counter(roomTypes), room: counter(rooms) }
}

function counter({ first, amount }: Block): () => number {
  let next = first
  return () => {
    if (next === first + amount) throw changedMeanwhile()
    return next++
  }
}

/** Returns the error for a listing that another request changed between the lookup and the write. */
function changedMeanwhile(): DomainError {
  return new DomainError('conflict', 'Another request is changing the same listing; try again', [], 1)
}

/** Returns the 409 error for a listing that matches an inactive one (contract, Listing conflict detail). */
export function inactiveMatch(
  listing: Pick<StoredListing, 'id'>,
  { method, confidence }: Match,
): DomainError {
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
    'The listing matches an inactive listing',
    entries.map(([path, message]) => ({ path, code: 'conflict', message })),
  )
}
