import { DomainError } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import { isObject } from '../../http/input/schema/normalize.ts'
import { single } from '../../http/write.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import { busy } from '../../platform/mongo/errors.ts'
import { ensureLock, type HostLock, takeLock } from '../../platform/mongo/turns/locks.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import { inLane, inTurn } from '../../platform/mongo/turns/update-lanes.ts'
import { addressChanges, writeAddresses } from '../calendars/addresses.ts'
import { addressesOf } from './calendar-rooms.ts'
import type { ListingPatch } from './fields.ts'
import { findByOriginalId, findMatch, type Match } from './match-store.ts'
import { type IdReading, merge } from './merge.ts'
import type { ListingContent, ListingWithPrices, WrittenListing } from './model.ts'
import {
  changeFields,
  findListing,
  insertListing,
  type PlainFields,
  replaceContent,
  setPlainFields,
} from './store.ts'

/*
 * A listing is found by its `original_id` (POST) or by its id (PATCH), and is then written in one transaction:
 *
 *   take the lock of the host's listings     so that these writes run one after another, in all processes
 *   find the listing again                   if it has changed since, or if it may match by more than its `original_id`
 *                                            (see match-store.ts)
 *   merge what was sent into its content     see merge.ts
 *   take ids for new room types and rooms    outside the transaction
 *   store the listing
 *   write its rooms' calendars               if the address of one has changed; see calendars/addresses.ts
 *
 * A `PATCH` of fields that no other document depends on needs no lock; see `patchFields`.
 */

/** The result of a create or update. */
export interface ListingWrite<Listing = ListingWithPrices> {
  action: 'created' | 'updated'
  listing: Listing
  /** True if the write set or changed the address of a calendar, which is therefore due. */
  setsCalendar: boolean
}

/**
 * Returns the lock for writes to a host's listings that must run one at a time. The lock's name is also the name of
 * their queue.
 */
export function listingLock(ownerId: number): HostLock {
  return { ownerId, name: `listings/${ownerId}` }
}

/**
 * Writes of `POST /v1/listings`, each of which updates the host's matching listing or, if there is none, creates a new
 * one. They run one at a time per host, so that concurrent identical creates result in a single listing.
 */
export const sentListings = single({
  queue: (ownerId) => listingLock(ownerId).name,
  prepare: prepareListing,
  ensure: ({ db }: Pick<AppContext, 'db'>, ownerId) => ensureLock(db, listingLock(ownerId)),
  write: writeListing,
})

/** A listing that is ready to be written. */
interface SentListing {
  sent: ListingPatch
  /** The listing with the `original_id` that was sent, as it was before the write's turn; null if there is none. */
  known: ListingWithPrices | null
}

async function prepareListing(
  { db }: Pick<AppContext, 'db'>,
  ownerId: number,
  sent: ListingPatch,
): Promise<SentListing> {
  return { sent, known: await findByOriginalId(db, ownerId, sent.original_id) }
}

/** @throws DomainError `validation`; `listing_conflict` if the match is inactive */
async function writeListing(
  app: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  session: Session,
  ownerId: number,
  { sent, known }: SentListing,
): Promise<ListingWrite> {
  await takeLock(app.db, session, listingLock(ownerId))
  const change: Change = { sent, reading: 'partner' }
  if (known && known.listing_status !== 'inactive') {
    const written = await update(app, known, change, session)
    if (written) return written
  }
  const found = await findMatch(app.db, ownerId, sent, session)
  if (!found) return create(app, ownerId, sent, session)
  if (found.listing.listing_status === 'inactive') throw inactiveMatch(found.listing, found.match)
  return updateFound(app, found.listing, change, session)
}

async function create(
  app: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  ownerId: number,
  sent: ListingPatch,
  session: Session,
): Promise<ListingWrite> {
  const [id, content] = await Promise.all([
    app.ids('listing'),
    merge(app.ids, null, { sent, reading: 'partner' }),
  ])
  const listing = await insertListing(app, ownerId, { id, content }, session)
  const setsCalendar = await writeCalendars(app, listing, { before: null, after: content }, session)
  return { action: 'created', listing, setsCalendar }
}

/** Updates a listing that was found in the same transaction, in which it cannot have changed since. */
async function updateFound(
  app: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  listing: ListingWithPrices,
  change: Change,
  session: Session,
): Promise<ListingWrite> {
  const written = await update(app, listing, change, session)
  if (!written) throw busy()
  return written
}

/** Updates a listing. Changes nothing and returns null if it has changed since it was found. */
async function update(
  app: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  listing: ListingWithPrices,
  change: Change,
  session: Session,
): Promise<ListingWrite | null> {
  const content = await merge(app.ids, listing.content, change)
  if (!(await replaceContent(app, listing, content, session))) return null
  const setsCalendar = await writeCalendars(
    app,
    listing,
    { before: listing.content, after: content },
    session,
  )
  return { action: 'updated', listing: { ...listing, content }, setsCalendar }
}

/** Writes the calendars whose address has changed. Returns true if an address was set or changed. */
async function writeCalendars(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  { id, owner_id, listing_status }: Pick<ListingWithPrices, 'id' | 'owner_id' | 'listing_status'>,
  { before, after }: { before: ListingContent | null; after: ListingContent },
  session: Session,
): Promise<boolean> {
  const changes = addressChanges(before ? addressesOf(before) : [], addressesOf(after))
  if (changes.set.length === 0 && changes.removed.length === 0) return false
  const listing = { owner_id, listing_id: id, is_inactive: listing_status === 'inactive' }
  await writeAddresses(db, session, listing, { changes, now: clock(owner_id) })
  return changes.set.length > 0
}

/** The fields to be merged into a listing. */
interface Change {
  sent: ListingPatch
  reading: IdReading
}

/** Returns the 409 error for a listing that matches an inactive one (contract, Listing conflict detail). */
export function inactiveMatch(
  listing: Pick<ListingWithPrices, 'id'>,
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
): Promise<ListingWrite<WrittenListing>> {
  const { room_types, original_id, original_url } = sent
  const isAlone = !room_types?.length && original_id === undefined && original_url === undefined
  return isAlone ? patchFields(app, ownerId, id, sent) : patchInTurn(app, ownerId, id, sent)
}

/** Maximum number of attempts to change a listing that other processes keep changing. */
const maxPatches = 50

/**
 * Changes fields that no other document depends on. No lock is needed, because fields that are merged are written only if
 * the listing's content has not changed since it was read. Fields that are replaced need no reading.
 */
function patchFields(
  app: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  ownerId: number,
  id: number | undefined,
  sent: ListingPatch,
): Promise<ListingWrite<WrittenListing>> {
  return inTurn(app.db, `listing ${ownerId}/${id}`, async () => {
    const replaced = await replaceFields(app, ownerId, id, sent)
    const listing = replaced ?? (await mergeFields(app, ownerId, id, sent))
    return { action: 'updated', listing, setsCalendar: false }
  })
}

/** Returns null, and changes nothing, if the fields must be merged with those of the listing. */
async function replaceFields(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  owner_id: number,
  id: number | undefined,
  { room_types: _, ...fields }: ListingPatch,
): Promise<WrittenListing | null> {
  if (id === undefined || !isPlain(fields)) return null
  return inLane(db, () => setPlainFields({ db, clock }, { owner_id, id }, fields))
}

async function mergeFields(
  app: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  ownerId: number,
  id: number | undefined,
  sent: ListingPatch,
): Promise<WrittenListing> {
  for (let patch = 0; patch < maxPatches; patch += 1) {
    const listing = await findListing(app.db, ownerId, id)
    const content = await merge(app.ids, listing.content, { sent, reading: 'internal' })
    if (await inLane(app.db, () => changeFields(app, listing, content))) return { ...listing, content }
    await Bun.sleep(Math.random() * patch)
  }
  throw changedMeanwhile()
}

/** Returns true if each field that was sent replaces the stored one as a whole. */
function isPlain(fields: PlainFields): boolean {
  const values = Object.values(fields)
  return values.length > 0 && !values.some(isObject)
}

/** Returns the error for a listing that other requests keep changing between the look-up and the write. */
function changedMeanwhile(): DomainError {
  return new DomainError('conflict', 'Another request is changing the same listing; try again', [], 1)
}

async function patchInTurn(
  app: Pick<AppContext, 'db' | 'clock' | 'ids'>,
  ownerId: number,
  id: number | undefined,
  sent: ListingPatch,
): Promise<ListingWrite> {
  const lock = listingLock(ownerId)
  const change: Change = { sent, reading: 'internal' }
  const [known] = await Promise.all([findListing(app.db, ownerId, id), ensureLock(app.db, lock)])
  return inTransaction(app.db, lock.name, async (session) => {
    await takeLock(app.db, session, lock)
    const written = await update(app, known, change, session)
    if (written) return written
    return updateFound(app, await findListing(app.db, ownerId, id, session), change, session)
  })
}
