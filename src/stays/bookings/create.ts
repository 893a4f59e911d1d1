import { daysBetween } from '../../core/clock.ts'
import { invalidField, invalidFields, type Problem, type ProblemCode } from '../../core/errors.ts'
import { decimalPlaces, toMinorUnits } from '../../core/money.ts'
import { advanceHostClock, hostQueue } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import { findRowsCovering } from '../../inventory/availability/store.ts'
import { type BookableListing, findBookableListing } from '../../inventory/listings/store.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { runBatched } from '../../platform/mongo/statements.ts'
import type { UnitOfWork } from '../../platform/mongo/transactions.ts'
import { insertFirstMessage } from '../messages/store.ts'
import type { StoredUser } from '../users/model.ts'
import { findUserIfAny, requireNotErased } from '../users/store.ts'
import type { StoredBooking } from './model.ts'
import { priceStay } from './pricing.ts'
import type { BookingCreate } from './schema.ts'
import { bookingStatus } from './status.ts'
import { type BookingDraft, findActiveStays, insertBooking } from './store.ts'
import { firstFullNight, nightsOf } from './units.ts'

/**
 * Prepares to create a booking for a host, along with the guest's first message if the input contains a message. Units
 * are counted within the transaction, after the host's clock has advanced, so that no other transaction can write the
 * host's bookings or availability between the count and the insert.
 *
 * @throws DomainError `validation` at each id that is missing, belongs to another host or cannot be booked; when run,
 * at `user_id` if the guest has been erased, or at `checkin_at` with `unavailable` (decisions §6)
 */
export async function prepareBooking(
  { db, clock, config, ids }: Pick<AppContext, 'db' | 'clock' | 'config' | 'ids'>,
  ownerId: number,
  input: BookingCreate,
): Promise<UnitOfWork<StoredBooking>> {
  const [user, found] = await Promise.all([
    findUserIfAny(db, ownerId, input.user_id),
    findBookableListing(db, ownerId, input.listing_id),
  ])
  const parts = requireParts(user, found, input.room_type_id)
  const text = input.message ?? null
  const [id, messageId] = await Promise.all([ids('booking'), text === null ? 0 : ids('message')])
  const draft = draftOf(id, input, parts, config.defaultCurrency)
  return {
    queue: hostQueue(ownerId),
    shares: 'in step',
    async run(session) {
      const now = clock(ownerId)
      const tick = await advanceHostClock(db, session, { ownerId, now, withMessage: text !== null })
      if (tick.hasErasures) await requireNotErased(db, session, ownerId, parts.guest.id)
      await runBatched(db, session, requireUnits, draft)
      const booking = await insertBooking(db, session, draft, { tick, now })
      const { messageVersion: version } = tick
      if (text !== null && version !== null) {
        const message = { id: messageId, sender_name: parts.guest.name, text, version }
        await insertFirstMessage(db, session, booking, message)
      }
      return booking
    },
  }
}

/** The guest, listing and room type of a booking. */
interface Parts {
  guest: StoredUser
  listing: BookableListing
  roomType: BookableListing['content']['room_types'][number]
}

/** Returns the parts of a new booking, or throws a single error that reports the problems with all of the sent ids. */
function requireParts(
  guest: StoredUser | null,
  listing: BookableListing | null,
  roomTypeId: number | null | undefined,
): Parts {
  const problems: Problem[] = []
  const report = (path: string, message: string, code: ProblemCode = 'invalid') =>
    problems.push({ path, code, message })
  if (!guest) report('user_id', '"user_id" is not a user created by this host')
  if (!listing) report('listing_id', '"listing_id" is not a listing of this host')
  else if (listing.listing_status === 'inactive')
    report('listing_id', 'The listing is inactive and accepts no bookings')
  const roomType = listing ? chooseRoomType(listing, roomTypeId) : undefined
  if (listing && !roomType) {
    if (roomTypeId) report('room_type_id', '"room_type_id" is not a room type of the listing')
    else report('room_type_id', '"room_type_id" is required unless the listing has exactly one', 'required')
  }
  if (!guest || !listing || !roomType || problems.length > 0) throw invalidFields(problems)
  return { guest, listing, roomType }
}

function chooseRoomType({ content }: BookableListing, id: number | null | undefined) {
  if (id) return content.room_types.find((roomType) => roomType.id === id)
  return content.room_types.length === 1 ? content.room_types[0] : undefined
}

function draftOf(
  id: number,
  input: BookingCreate,
  { guest, listing, roomType }: Parts,
  defaultCurrency: string,
): BookingDraft {
  const { prices } = listing.content
  const nights = daysBetween(input.checkin_at, input.checkout_at)
  const currency = (prices?.currency ?? defaultCurrency).toUpperCase()
  const places = decimalPlaces(currency)
  const stay = { checkinAt: input.checkin_at, nights }
  const { price, discount, total } = priceStay(stay, roomType.prices ?? {}, prices?.extra_fees ?? [], places)
  return {
    id,
    owner_id: listing.owner_id,
    user_id: guest.id,
    listing_id: listing.id,
    room_type_id: roomType.id,
    checkin_at: input.checkin_at,
    checkout_at: input.checkout_at,
    nights,
    status: bookingStatus.pending,
    currency,
    decimal_places: places,
    price_minor: price,
    discount_minor: discount,
    price_total_minor: total,
    security_deposit_minor: Number(toMinorUnits(prices?.security_deposit, places)),
    special_requests: input.message ?? null,
    cancellation_reason: null,
    confirmed_at: null,
    canceled_at: null,
    erased_at: null,
  }
}

/**
 * Rejects all drafts if any of them includes a night with no unit left. Each draft counts against the drafts that
 * follow it.
 *
 * @throws DomainError `validation` at `checkin_at` with `unavailable`
 */
async function requireUnits(db: Db, session: Session, drafts: BookingDraft[]): Promise<undefined[]> {
  const ownerId = drafts[0]?.owner_id as number
  const nightsOfDraft = (draft: BookingDraft) => ({
    roomTypeIds: [draft.room_type_id],
    days: nightsOf(draft),
  })
  const rows = await findRowsCovering(db, session, ownerId, drafts.map(nightsOfDraft))
  const limited = drafts.filter(({ room_type_id }) => rows.has(room_type_id))
  if (limited.length === 0) return []
  const oldest = Math.min(...[...rows.values()].flat().map(({ sequence }) => sequence))
  const taken = await findActiveStays(db, session, ownerId, {
    nights: limited.map(nightsOfDraft),
    afterSequence: oldest,
  })
  for (const draft of drafts) {
    const ofRoomType = taken.filter(({ room_type_id }) => room_type_id === draft.room_type_id)
    const night = firstFullNight(nightsOf(draft), rows.get(draft.room_type_id) ?? [], ofRoomType)
    if (night) throw invalidField('checkin_at', `No unit of the room type is left on ${night}`, 'unavailable')
    taken.push({ ...draft, created_sequence: Number.POSITIVE_INFINITY })
  }
  return []
}
