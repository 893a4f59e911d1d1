import type { StatusWord } from '../bookings/model.ts'
import { moveBooking } from '../bookings/moves.ts'
import { prepareBooking } from '../bookings/store.ts'
import { addDays, toDay } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { findBooking } from '../feed/store.ts'
import { startHostClock } from '../infra/host-clock.ts'
import { inTransaction } from '../infra/mongo.ts'
import type { IdSource, SequenceName } from '../infra/sequences.ts'
import type { ListingStatus } from '../listings/schema.ts'
import { setListingStatus } from '../listings/store.ts'
import { prepareListing } from '../listings/write.ts'
import { normalize } from '../schema/normalize.ts'
import { UserCreate } from '../users/schema.ts'
import { prepareUser } from '../users/store.ts'

type Store = Pick<Deps, 'db' | 'clock' | 'config' | 'ids'>

interface UserFixture {
  id: number
  body: object
}

interface ListingFixture {
  id: number
  status: ListingStatus
  /** Id of its first room type; the others follow. */
  first_room_type_id: number
  first_room_id: number
  body: object
}

interface BookingFixture {
  id: number
  user_id: number
  listing_id: number
  room_type_id: number
  checkin_in_days: number
  nights: number
  status: StatusWord
  message: string | null
}

/**
 * Fills a fresh sandbox from `fixtures/sandbox`, through the same stores that serve requests, with the ids of
 * the contract and dates relative to today.
 */
export async function seedSandbox(store: Store, scope: number, keyId: number): Promise<void> {
  await startHostClock(store.db, scope)
  const [users, listings, bookings] = await Promise.all([
    readFixture<UserFixture>('users'),
    readFixture<ListingFixture>('listings'),
    readFixture<BookingFixture>('bookings'),
  ])
  for (const { id, body } of users) {
    const effect = await prepareUser(
      { ...store, ids: withIds(store.ids, { user: id }) },
      { hostId: scope, keyId, address: '127.0.0.1' },
      normalize(UserCreate, body),
    )
    await inTransaction(store.db, effect.queue, effect.run)
  }
  for (const listing of listings) await seedListing(store, scope, listing)
  for (const booking of bookings) await seedBooking(store, scope, booking)
}

async function seedListing(store: Store, scope: number, fixture: ListingFixture): Promise<void> {
  const { id, first_room_type_id, first_room_id, status, body } = fixture
  const ids = withIds(store.ids, { listing: id, room_type: first_room_type_id, room: first_room_id })
  const effect = await prepareListing({ ...store, ids }, scope, body)
  await inTransaction(store.db, effect.queue, effect.run)
  await setListingStatus(store, { id, host_id: scope }, status)
}

async function seedBooking(store: Store, scope: number, fixture: BookingFixture): Promise<void> {
  const { id, checkin_in_days, nights, status, ...rest } = fixture
  const checkin_at = addDays(toDay(store.clock()), checkin_in_days)
  const input = { ...rest, checkin_at, checkout_at: addDays(checkin_at, nights) }
  const effect = await prepareBooking({ ...store, ids: withIds(store.ids, { booking: id }) }, scope, input)
  await inTransaction(store.db, effect.queue, effect.run)
  if (status !== 'pending') await moveBooking(store, () => findBooking(store, scope, id), status)
}

/** An id source that gives these ids where it has them. */
function withIds(ids: IdSource, given: Partial<Record<SequenceName, number>>): IdSource {
  return async (name, amount) => given[name] ?? ids(name, amount)
}

async function readFixture<T>(name: string): Promise<T[]> {
  return Bun.file(new URL(`../../fixtures/sandbox/${name}.json`, import.meta.url)).json()
}
