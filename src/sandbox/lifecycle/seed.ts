import { addDays, toDay } from '../../core/clock.ts'
import { type ClockStart, startHostClock } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import { normalize } from '../../http/input/schema/normalize.ts'
import { carryOut, prepareWrite } from '../../http/write.ts'
import { sentListings } from '../../inventory/listings/listing-write.ts'
import { sentRates } from '../../inventory/listings/rates/rates-write.ts'
import type { ListingStatus } from '../../inventory/listings/schema.ts'
import { setListingStatus } from '../../inventory/listings/store.ts'
import { withIds } from '../../platform/ids/id-source.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import { newBookings } from '../../stays/bookings/create.ts'
import type { StatusWord } from '../../stays/bookings/status.ts'
import { moveBooking } from '../../stays/bookings/transitions.ts'
import { setConversationClosed } from '../../stays/messages/conversation.ts'
import { newUsers } from '../../stays/users/create.ts'
import { UserCreate } from '../../stays/users/schema.ts'
import bookings from '../data/bookings.json' with { type: 'json' }
import listings from '../data/listings.json' with { type: 'json' }
import rates from '../data/rates.json' with { type: 'json' }
import users from '../data/users.json' with { type: 'json' }

/** A fresh sandbox, which is being filled. */
interface FreshSandbox extends Pick<AppContext, 'db' | 'clock' | 'config' | 'ids'> {
  sandboxId: number
  keyId: number
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

/**
 * Fills a fresh sandbox from `sandbox/data` through the same functions that serve requests. The ids are those in the
 * contract, and the dates are relative to today.
 *
 * @param start the last versions of the key's earlier sandboxes, after which this sandbox's versions continue
 */
export async function seedSandbox(sandbox: FreshSandbox, start: ClockStart): Promise<void> {
  const { db, sandboxId } = sandbox
  await startHostClock(db, sandboxId, start)
  const users = await Promise.all(data.users.map((user) => userOf(sandbox, user)))
  const listings = await Promise.all(data.listings.map((listing) => listingOf(sandbox, listing)))
  const made = [...users, ...listings]
  await runAll(
    db,
    sandboxId,
    made.map(({ write }) => write),
  )
  for (const { id, status } of data.listings)
    await setListingStatus(sandbox, { id, owner_id: sandboxId }, status)
  const bookings = await Promise.all(data.bookings.map((booking) => bookingOf(sandbox, booking)))
  await runAll(db, sandboxId, bookings)
  for (const { id, has_closed_conversation } of data.bookings)
    if (has_closed_conversation) await setConversationClosed(sandbox, { id, owner_id: sandboxId }, true)
  for (const write of data.rates) await seedRates(sandbox, write)
}

/**
 * Runs each change in a transaction of its own. One transaction for all of them would need fewer commits, but on a busy
 * machine its many commands would outlast MongoDB's limit for a transaction, again and again, and the key's first write
 * would get a 500.
 */
async function runAll(
  db: Db,
  sandboxId: number,
  changes: ((session: Session) => Promise<unknown>)[],
): Promise<void> {
  for (const change of changes) await inTransaction(db, `sandbox/${sandboxId}`, change)
}

function userOf(sandbox: FreshSandbox, { id, body }: (typeof users)[0]) {
  const context = { ...sandbox, ids: withIds(sandbox.ids, { user: id }) }
  const origin = { keyId: sandbox.keyId, address: '127.0.0.1' }
  const sent = { fields: normalize(UserCreate, body), origin }
  return prepareWrite(context, newUsers, sandbox.sandboxId, sent)
}

function listingOf(sandbox: FreshSandbox, listing: ListingData) {
  const { id, first_room_type_id, first_room_id, body } = listing
  const ids = withIds(sandbox.ids, { listing: id, room_type: first_room_type_id, room: first_room_id })
  return prepareWrite({ ...sandbox, ids }, sentListings, sandbox.sandboxId, body)
}

async function bookingOf(
  sandbox: FreshSandbox,
  data: BookingData,
): Promise<(session: Session) => Promise<void>> {
  const { id, checkin_in_days, nights, status, has_closed_conversation: _, ...rest } = data
  const checkin_at = addDays(toDay(sandbox.clock()), checkin_in_days)
  const input = { ...rest, checkin_at, checkout_at: addDays(checkin_at, nights) }
  const context = { ...sandbox, ids: withIds(sandbox.ids, { booking: id }) }
  const booking = await prepareWrite(context, newBookings, sandbox.sandboxId, input)
  return async (session) => {
    const made = await booking.write(session)
    if (status !== 'pending') await moveBooking(sandbox, session, made, { to: status })
  }
}

async function seedRates(sandbox: FreshSandbox, { id, data: items }: (typeof rates)[0]): Promise<void> {
  const context = { ...sandbox, ids: withIds(sandbox.ids, { rate_job: id }) }
  await carryOut(context, sentRates, sandbox.sandboxId, items)
}

/** The data of a fresh sandbox. */
const data = {
  users,
  rates,
  listings: listings as ListingData[],
  bookings: bookings as BookingData[],
}
