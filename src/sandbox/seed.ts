import { readFileSync } from 'node:fs'
import { addDays, toDay } from '../core/clock.ts'
import type { AppContext } from '../http/context.ts'
import { withIds } from '../http/ids.ts'
import { normalize } from '../http/schema/normalize.ts'
import type { RateItem } from '../inventory/listings/rates/schema.ts'
import { prepareRates } from '../inventory/listings/rates/write.ts'
import type { ListingStatus } from '../inventory/listings/schema.ts'
import { setListingStatus } from '../inventory/listings/store.ts'
import { prepareListing } from '../inventory/listings/write.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { inTransaction, mapUnit, runUnit, type UnitOfWork } from '../platform/mongo/transactions.ts'
import { prepareBooking } from '../stays/bookings/create.ts'
import type { StatusWord } from '../stays/bookings/status.ts'
import { prepareTransition } from '../stays/bookings/transitions.ts'
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
  /** Id of the listing's first room type. Its other room types get the following ids. */
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
  /** Id of the rate job. */
  id: number
  data: RateItem[]
}

/**
 * Fills a fresh sandbox from `sandbox/data` through the same functions that serve requests. The ids are those in the
 * contract, and the dates are relative to today.
 *
 * @param start the last versions of the key's earlier sandboxes, after which this sandbox's versions continue
 */
export async function seedSandbox(
  store: Store,
  scope: number,
  keyId: number,
  start: ClockStart,
): Promise<void> {
  await startHostClock(store.db, scope, start)
  const users = await Promise.all(data.users.map((user) => userOf(store, scope, keyId, user)))
  const listings = await Promise.all(data.listings.map((listing) => listingOf(store, scope, listing)))
  await runAll(store.db, scope, [...users, ...listings])
  for (const { id, status } of data.listings) await setListingStatus(store, { id, host_id: scope }, status)
  const bookings = await Promise.all(data.bookings.map((booking) => bookingOf(store, scope, booking)))
  await runAll(store.db, scope, bookings)
  for (const { id, has_closed_conversation } of data.bookings)
    if (has_closed_conversation) await setConversationClosed(store, { id, host_id: scope }, true)
  for (const write of data.rates) await seedRates(store, scope, write)
}

/** Runs changes in one transaction, because commits are costly and nothing else writes to the sandbox yet. */
function runAll(db: Db, scope: number, works: UnitOfWork<unknown>[]): Promise<void> {
  return inTransaction(db, `sandbox/${scope}`, async (session) => {
    for (const { run } of works) await run(session)
  })
}

function userOf(store: Store, scope: number, keyId: number, { id, body }: UserData) {
  const context = { ...store, ids: withIds(store.ids, { user: id }) }
  const origin = { hostId: scope, keyId, address: '127.0.0.1' }
  return prepareUser(context, origin, normalize(UserCreate, body))
}

function listingOf(store: Store, scope: number, listing: ListingData) {
  const { id, first_room_type_id, first_room_id, body } = listing
  const ids = withIds(store.ids, { listing: id, room_type: first_room_type_id, room: first_room_id })
  return prepareListing({ ...store, ids }, scope, body)
}

async function bookingOf(store: Store, scope: number, booking: BookingData): Promise<UnitOfWork<unknown>> {
  const { id, checkin_in_days, nights, status, has_closed_conversation: _, ...rest } = booking
  const checkin_at = addDays(toDay(store.clock()), checkin_in_days)
  const input = { ...rest, checkin_at, checkout_at: addDays(checkin_at, nights) }
  const context = { ...store, ids: withIds(store.ids, { booking: id }) }
  const booked = await prepareBooking(context, scope, input)
  if (status === 'pending') return booked
  return mapUnit(booked, (made, session) => prepareTransition(store, made, { to: status }).run(session))
}

async function seedRates(store: Store, scope: number, { id, data }: RatesData): Promise<void> {
  const context = { ...store, ids: withIds(store.ids, { rate_job: id }) }
  await runUnit(store.db, await prepareRates(context, scope, data))
}

/** The data of a fresh sandbox, read only once because a test suite may clear its sandbox before each test. */
const data = {
  users: readData<UserData>('users'),
  listings: readData<ListingData>('listings'),
  bookings: readData<BookingData>('bookings'),
  rates: readData<RatesData>('rates'),
}

function readData<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`./data/${name}.json`, import.meta.url), 'utf8'))
}
