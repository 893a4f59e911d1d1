import type { Db, Session } from '../../platform/mongo/connection.ts'
import { readAddress } from './address.ts'
import type { StoredCalendar } from './model.ts'
import {
  changeCalendars,
  changeCalendarsOfListing,
  countUnlimited,
  findCalendarsOfRooms,
  findLimitedRooms,
  insertCalendars,
  removeCalendars,
  type WrittenCalendar,
} from './store.ts'

/*
 * What a write of a listing does to the calendars of its rooms, within the write's own transaction (decisions §31). So a
 * listing never shows an address without an entry, and no block outlives its address.
 */

/** Maximum number of a host's calendars that are read. Further ones wait with the error `limit`. */
const maxCalendars = 2000

/** A room with the address of its calendar. */
export interface RoomAddress {
  room_id: number
  room_type_id: number
  url: string
}

/** A listing whose rooms' addresses are written. */
export interface WrittenListing {
  owner_id: number
  listing_id: number
  is_inactive: boolean
}

/** The addresses that a write sets or changes, and the rooms whose address it removes. */
export interface AddressChanges {
  set: RoomAddress[]
  removed: number[]
}

/** Compares a listing's addresses before and after a write. */
export function addressChanges(before: RoomAddress[], after: RoomAddress[]): AddressChanges {
  const urls = new Map(before.map(({ room_id, url }) => [room_id, url]))
  const left = new Set(after.map(({ room_id }) => room_id))
  return {
    set: after.filter(({ room_id, url }) => urls.get(room_id) !== url),
    removed: before.filter(({ room_id }) => !left.has(room_id)).map(({ room_id }) => room_id),
  }
}

/** Writes changes of addresses. A new address is due at once, unless the listing is inactive or the host has too many. */
export async function writeAddresses(
  db: Db,
  session: Session,
  listing: WrittenListing,
  { changes, now }: { changes: AddressChanges; now: Date },
): Promise<void> {
  const { owner_id } = listing
  const { set, removed } = changes
  const places = removed.length > 0 ? await removeCalendars(db, session, owner_id, removed) : 0
  if (places > 0) await liftLimit(db, session, owner_id, { places, now })
  if (set.length === 0) return
  const roomIds = set.map(({ room_id }) => room_id)
  const known = new Map(
    (await findCalendarsOfRooms(db, session, owner_id, roomIds)).map((one) => [one.room_id, one]),
  )
  const changed = set.filter(({ room_id }) => known.has(room_id))
  await changeCalendars(
    db,
    session,
    owner_id,
    changed.map((room) => ({
      room_id: room.room_id,
      set: newAddress(room.url, { ...(known.get(room.room_id) as WrittenCalendar), now }),
    })),
  )
  const added = set.filter(({ room_id }) => !known.has(room_id))
  if (added.length === 0) return
  const room = Math.max(0, maxCalendars - (await countUnlimited(db, session, owner_id)))
  await insertCalendars(
    db,
    session,
    added.map((one, index) => newCalendar(listing, one, { is_limited: index >= room, now })),
  )
}

/** Makes limited calendars due in the places of removed ones. */
async function liftLimit(
  db: Db,
  session: Session,
  owner_id: number,
  { places, now }: { places: number; now: Date },
): Promise<void> {
  const roomIds = await findLimitedRooms(db, session, owner_id, places)
  if (roomIds.length === 0) return
  const lifted = await findCalendarsOfRooms(db, session, owner_id, roomIds)
  await changeCalendars(
    db,
    session,
    owner_id,
    lifted.map(({ room_id, is_inactive }) => ({
      room_id,
      set: { is_limited: false, error: null, ...dueAt(is_inactive ? null : now) },
    })),
  )
}

function newCalendar(
  { owner_id, listing_id, is_inactive }: WrittenListing,
  { room_id, room_type_id, url }: RoomAddress,
  { is_limited, now }: { is_limited: boolean; now: Date },
): StoredCalendar {
  return {
    owner_id,
    listing_id,
    room_type_id,
    room_id,
    is_inactive,
    is_limited,
    has_been_read: false,
    changed_at: null,
    conflicts: [],
    is_noted: false,
    blocks: [],
    nights: [],
    missing: [],
    ...newAddress(url, { is_inactive, is_limited, now }),
  }
}

/** Returns the fields that a new address sets. The blocks stay until the first good reading replaces them. */
function newAddress(
  url: string,
  { is_inactive, is_limited, now }: Pick<StoredCalendar, 'is_inactive' | 'is_limited'> & { now: Date },
) {
  return {
    url,
    origin: originOf(url),
    set_at: now,
    status: 'waiting',
    error: is_limited ? 'limit' : null,
    response_status: null,
    read_at: null,
    attempted_at: null,
    failures: 0,
    hold_since: null,
    etag: null,
    last_modified: null,
    full_read_at: null,
    refresh_seconds: null,
    events: null,
    skipped: [],
    ...dueAt(is_inactive || is_limited ? null : now),
  } satisfies Partial<StoredCalendar>
}

/** Returns the fields that say when a calendar that nobody reads is due; null for never. */
function dueAt(time: Date | null): Pick<StoredCalendar, 'next_read_at' | 'claim' | 'claimable_at'> {
  return { next_read_at: time, claim: null, claimable_at: time }
}

function originOf(url: string): string {
  return readAddress(url)?.origin ?? ''
}

/** Removes the blocks of a listing that becomes inactive. Its entries stay, and nothing reads them. */
export async function stopCalendars(
  db: Db,
  listing: Pick<StoredCalendar, 'owner_id' | 'listing_id'>,
): Promise<void> {
  const stopped: Partial<StoredCalendar> = {
    is_inactive: true,
    status: 'waiting',
    response_status: null,
    read_at: null,
    hold_since: null,
    failures: 0,
    etag: null,
    last_modified: null,
    full_read_at: null,
    events: null,
    skipped: [],
    conflicts: [],
    is_noted: false,
    blocks: [],
    nights: [],
    missing: [],
    ...dueAt(null),
  }
  await changeCalendarsOfListing(db, listing, { ...stopped, error: null }, { is_limited: false })
  await changeCalendarsOfListing(db, listing, stopped, { is_limited: true })
}

/** Makes the calendars of a listing that was inactive due at once. Does nothing if it was not. */
export async function resumeCalendars(
  db: Db,
  listing: Pick<StoredCalendar, 'owner_id' | 'listing_id'>,
  now: Date,
): Promise<void> {
  const resumed = { is_inactive: false, attempted_at: null, set_at: now }
  const due = { ...resumed, ...dueAt(now) }
  await changeCalendarsOfListing(db, listing, due, { is_inactive: true, is_limited: false })
  await changeCalendarsOfListing(db, listing, resumed, { is_inactive: true, is_limited: true })
}
