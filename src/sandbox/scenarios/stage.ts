import { addDays, toDay } from '../../core/clock.ts'
import { DomainError, invalidField } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import { withIds } from '../../http/ids.ts'
import { normalize } from '../../http/input/schema/normalize.ts'
import { carryOut, prepareWrite } from '../../http/write.ts'
import { sentAvailability } from '../../inventory/availability/availability-write.ts'
import { findRoomTypesPage, type ListingRoomTypes } from '../../inventory/listings/room-types-store.ts'
import { findBookableListing, findListing } from '../../inventory/listings/store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import { newBookings } from '../../stays/bookings/create.ts'
import type { StoredBooking } from '../../stays/bookings/model.ts'
import { readNights } from '../../stays/nights/nights.ts'
import { newUsers } from '../../stays/users/create.ts'
import { UserCreate } from '../../stays/users/schema.ts'

/** The sandbox in which a scenario is played. */
export interface Stage {
  app: AppContext
  sandboxId: number
  keyId: number
}

/** A room type that has a unit left on every night of a stay. */
export interface Place {
  listing_id: number
  room_type_id: number
}

export interface StayDates {
  checkin_at: string
  checkout_at: string
}

/** Number of nights in each stay that a scenario creates. */
const stayNights = 30
const daysAhead = 30
/** Latest `checkin_at` for which the year of `checkout_at` has four digits. */
const lastCheckin = '9999-12-01'
const listingsPerPage = 100

/** Returns the error for a scenario that cannot be played. `what` describes the missing prerequisite. */
export function cannotPlay(what: string): DomainError {
  return new DomainError('conflict', `The scenario cannot be played: ${what}`)
}

/**
 * Returns the stay that starts on the given day, or 30 days from today if no day is given.
 *
 * @throws DomainError `validation` at `checkin_at` with code `max` if the day is too late
 */
export function stayFrom({ app, sandboxId }: Stage, checkin_at: string | null | undefined): StayDates {
  const first = checkin_at ?? addDays(toDay(app.clock(sandboxId)), daysAhead)
  if (first > lastCheckin)
    throw invalidField('checkin_at', `"checkin_at" must be at most ${lastCheckin}`, 'max')
  return { checkin_at: first, checkout_at: addDays(first, stayNights) }
}

/**
 * Finds places for `count` stays over the same nights, filling one room type after another.
 *
 * @throws DomainError `validation` at `listing_id` for a listing that is not in the sandbox; `conflict` if there are
 * too few places
 */
export async function placesFor(
  stage: Stage,
  listingId: number | null | undefined,
  { checkin_at, checkout_at }: StayDates,
  count: number,
): Promise<Place[]> {
  const nights = { from: checkin_at, to: addDays(checkout_at, -1) }
  const places: Place[] = []
  for await (const { listingId: listing_id, roomTypeIds } of bookableListings(stage, listingId)) {
    const units = await readNights(stage.app, stage.sandboxId, roomTypeIds, nights)
    for (const [room_type_id, ofRoomType] of units) {
      const left = Math.min(...ofRoomType.map((night) => night.left ?? Number.POSITIVE_INFINITY))
      const taken = Math.max(0, Math.min(left, count - places.length))
      places.push(...Array<Place>(taken).fill({ listing_id, room_type_id }))
      if (places.length === count) return places
    }
  }
  const where = listingId ? 'the listing has' : 'the listings have'
  throw cannotPlay(
    `${where} units for ${places.length} of ${count} stays of ${stayNights} nights from ${checkin_at}`,
  )
}

/** Returns a place for one stay, and the stay. Throws the same errors as `stayFrom` and `placesFor`. */
export async function placeFor(
  stage: Stage,
  listingId: number | null | undefined,
  checkin_at: string | null | undefined,
): Promise<{ place: Place; stay: StayDates }> {
  const stay = stayFrom(stage, checkin_at)
  const [place] = await placesFor(stage, listingId, stay, 1)
  return { place: place as Place, stay }
}

/**
 * Checks that a listing, if one is given, is in the sandbox.
 *
 * @throws DomainError `validation` at `listing_id` for any other listing
 */
export async function requireListing(
  db: Db,
  sandboxId: number,
  listingId: number | null | undefined,
): Promise<void> {
  if (!listingId) return
  await findListing(db, sandboxId, listingId).catch((error) => {
    if (!(error instanceof DomainError) || error.kind !== 'not_found') throw error
    throw invalidField('listing_id', '"listing_id" must be the id of a listing of this sandbox')
  })
}

async function* bookableListings(
  { app: { db }, sandboxId }: Stage,
  listingId: number | null | undefined,
): AsyncGenerator<ListingRoomTypes> {
  await requireListing(db, sandboxId, listingId)
  const wanted = { listingId: listingId ?? undefined, roomTypeId: undefined }
  for (let page = 1; ; page += 1) {
    const { listings } = await findRoomTypesPage(db, sandboxId, wanted, { page, perPage: listingsPerPage })
    for (const listing of listings)
      if (await findBookableListing(db, sandboxId, listing.listingId)) yield listing
    if (listings.length < listingsPerPage) return
  }
}

/** Sets a room type's number of units on every night of a stay. */
export async function setUnits(
  { app, sandboxId }: Stage,
  place: Place,
  { checkin_at, checkout_at }: StayDates,
  available: number,
): Promise<void> {
  const item = { ...place, available, start_date: checkin_at, end_date: addDays(checkout_at, -1) }
  await carryOut(app, sentAvailability, sandboxId, [item])
}

/** Creates a guest in the sandbox and returns the user's id. */
export async function makeGuest({ app, sandboxId, keyId }: Stage): Promise<number> {
  const id = await app.ids('user')
  const body = { email: `guest-${id}@example.com`, first_name: 'Guest', last_name: 'Sandbox' }
  const context = { ...app, ids: withIds(app.ids, { user: id }) }
  const sent = { fields: normalize(UserCreate, body), origin: { keyId, address: '127.0.0.1' } }
  await carryOut(context, newUsers, sandboxId, sent)
  return id
}

/** A guest's booking with an optional message. */
export interface GuestStay {
  user_id: number
  place: Place
  stay: StayDates
  message?: { id: number; text: string }
}

/** Prepares a guest's booking without storing it. */
export function prepareStay({ app, sandboxId }: Stage, { user_id, place, stay, message }: GuestStay) {
  const context = message ? { ...app, ids: withIds(app.ids, { message: message.id }) } : app
  const sent = { user_id, ...place, ...stay, message: message?.text ?? null }
  return prepareWrite(context, newBookings, sandboxId, sent)
}

/** Creates a guest's booking. */
export async function book(stage: Stage, guestStay: GuestStay): Promise<StoredBooking> {
  const { queue, write } = await prepareStay(stage, guestStay)
  return inTransaction(stage.app.db, queue, write)
}
