import { addDays, toDay } from '../core/clock.ts'
import type { AppContext } from '../http/context.ts'
import { withIds } from '../http/ids.ts'
import { normalize } from '../http/schema/normalize.ts'
import type { RateItem } from '../inventory/listings/rates/schema.ts'
import { prepareRates } from '../inventory/listings/rates/write.ts'
import type { ListingStatus } from '../inventory/listings/schema.ts'
import { setListingStatus } from '../inventory/listings/store.ts'
import { prepareListing } from '../inventory/listings/write.ts'
import { carryOut } from '../platform/mongo/transactions.ts'
import { prepareBooking } from '../stays/bookings/create.ts'
import type { StatusWord } from '../stays/bookings/status.ts'
import { findBooking } from '../stays/bookings/store.ts'
import { transitionBooking } from '../stays/bookings/transitions.ts'
import { setConversationClosed } from '../stays/messages/conversation.ts'
import { prepareUser } from '../stays/users/create.ts'
import { UserCreate } from '../stays/users/schema.ts'
import { type ClockStart, startHostClock } from '../versions/host-clock-store.ts'

type Store = Pick<AppContext, 'db' | 'clock' | 'config' | 'ids'>

interface UserData {
  id: number
  body: object
}

interface ListingData {
  id: number
  status: ListingStatus
  /** Id of its first room type; the others follow. */
  first_room_type_id: number
  first_room_id: number
  body: object
}

interface BookingData {
  id: number
  user_id: number
  listing_id: number
  room_type_id: number
  checkin_in_days: number
  nights: number
  status: StatusWord
  message: string | null
  has_closed_conversation?: true
}

interface RatesData {
  /** Of the job. */
  id: number
  data: RateItem[]
}

/**
 * Fills a fresh sandbox from `sandbox/data` through the same stores that serve requests, with the ids of the
 * contract and dates relative to today.
 *
 * @param start where its versions start
 */
export async function seedSandbox(
  store: Store,
  scope: number,
  keyId: number,
  start: ClockStart,
): Promise<void> {
  await startHostClock(store.db, scope, start)
  const [users, listings, bookings, rates] = await Promise.all([
    readData<UserData>('users'),
    readData<ListingData>('listings'),
    readData<BookingData>('bookings'),
    readData<RatesData>('rates'),
  ])
  for (const { id, body } of users) {
    const work = await prepareUser(
      { ...store, ids: withIds(store.ids, { user: id }) },
      { hostId: scope, keyId, address: '127.0.0.1' },
      normalize(UserCreate, body),
    )
    await carryOut(store.db, work)
  }
  for (const listing of listings) await seedListing(store, scope, listing)
  for (const booking of bookings) await seedBooking(store, scope, booking)
  for (const write of rates) await seedRates(store, scope, write)
}

async function seedListing(store: Store, scope: number, data: ListingData): Promise<void> {
  const { id, first_room_type_id, first_room_id, status, body } = data
  const ids = withIds(store.ids, { listing: id, room_type: first_room_type_id, room: first_room_id })
  await carryOut(store.db, await prepareListing({ ...store, ids }, scope, body))
  await setListingStatus(store, { id, host_id: scope }, status)
}

async function seedBooking(store: Store, scope: number, data: BookingData): Promise<void> {
  const { id, checkin_in_days, nights, status, has_closed_conversation, ...rest } = data
  const checkin_at = addDays(toDay(store.clock()), checkin_in_days)
  const input = { ...rest, checkin_at, checkout_at: addDays(checkin_at, nights) }
  const context = { ...store, ids: withIds(store.ids, { booking: id }) }
  await carryOut(store.db, await prepareBooking(context, scope, input))
  if (status !== 'pending')
    await transitionBooking(store, await findBooking(store.db, scope, id), { to: status })
  if (has_closed_conversation) await setConversationClosed(store, { id, host_id: scope }, true)
}

async function seedRates(store: Store, scope: number, { id, data }: RatesData): Promise<void> {
  const context = { ...store, ids: withIds(store.ids, { rate_job: id }) }
  await carryOut(store.db, await prepareRates(context, scope, data))
}

async function readData<T>(name: string): Promise<T[]> {
  return Bun.file(new URL(`./data/${name}.json`, import.meta.url)).json()
}
