import { bookingTarget, eraseReasons, recordAction } from '../../access/audit/store.ts'
import { toDay, toTimestamp } from '../../core/clock.ts'
import { currentTraceparent } from '../../core/trace.ts'
import type { Counter } from '../../host-clock/model.ts'
import {
  countErasure,
  hostQueue,
  nextMessageVersions,
  readHostClock,
  versionAt,
} from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import { findResponsesOf, overwriteResponse } from '../../http/idempotency/store.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import type { StoredBooking } from '../bookings/model.ts'
import { bookingStatus } from '../bookings/status.ts'
import { changeBookings, findBookingsOfUser, findBookingsToChange } from '../bookings/store.ts'
import { closeErased, ensureConversation, findUnerased, overwriteMessages } from '../messages/store.ts'
import { erasedName, erasedPerson } from '../users/erased.ts'
import type { StoredUser } from '../users/model.ts'
import { markErasing, overwriteUser } from '../users/store.ts'

/** The context of an erasure, and how it runs. */
interface Erasure extends Pick<AppContext, 'db' | 'clock'> {
  /**
   * True if the erasure runs after a restore, before the service starts serving requests. At that point, all versions
   * are far ahead of the clock and no poller is waiting, so the erasure does not pause.
   */
  isBeforeServing?: boolean
  mayHaveOpenStays?: boolean
  /** Time of an earlier erasure that is repeated after a restore, from its receipt; if absent, the present time. */
  at?: Date | undefined
  /** Called with the erasure's time once the guest can no longer book, before anything is overwritten. */
  onBegun?: (at: Date) => void
}

/** Error thrown if a guest to be erased has an open stay. */
export class OpenStayError extends Error {
  override readonly name = 'OpenStayError'
  constructor(bookingId: number) {
    super(`The guest has a stay that is not over (booking ${bookingId}): cancel it, or use --with-open-stays`)
  }
}

/** Maximum number of messages that one transaction overwrites. */
const messagesPerTransaction = 100
/** An erasure pauses while the host's versions, which pollers rely on, are at least this far ahead of the clock. */
const maxAheadMilliseconds = 600_000
const pollEveryMilliseconds = 1000

/** Receipt for a guest's erasure, with the data needed to repeat the erasure after a restore. */
export interface Receipt {
  user_id: number
  host_id: number
  user_created_at: string
  /** Time of the erasure: the `erased_at` of everything that it overwrites. */
  at: string
}

/** Returns the receipt for a guest's erasure. */
export function receiptOf({ id, owner_id, created_at }: StoredUser, at: Date): Receipt {
  return { user_id: id, host_id: owner_id, user_created_at: toTimestamp(created_at), at: toTimestamp(at) }
}

/**
 * Checks that a guest to be erased has no open stay.
 *
 * @throws OpenStayError
 */
export function requireNoOpenStay(bookings: StoredBooking[], now: Date): void {
  const [open] = openStays(bookings, now)
  if (open) throw new OpenStayError(open.id)
}

/** Returns the open stays: bookings that are not cancelled and whose `checkout_at` is today (UTC) or later. */
export function openStays(bookings: StoredBooking[], now: Date): StoredBooking[] {
  const today = toDay(now)
  return bookings.filter(
    ({ status, checkout_at }) => status !== bookingStatus.cancelled && checkout_at >= today,
  )
}

/**
 * Erases a guest's stored data (decisions §26). Each booking and message gets a new version, so that pollers see the
 * erasure like any other change. All of them show the same time, the one at which the erasure started. If the process
 * is killed midway, another call completes the erasure. Repeating a completed erasure changes nothing.
 *
 * @throws OpenStayError if the guest has an open stay when the erasure starts, unless `mayHaveOpenStays` is set
 */
export async function eraseGuest(context: Erasure, user: StoredUser): Promise<void> {
  const { db } = context
  const at = await begin(context, user)
  context.onBegun?.(at)
  // The guest can no longer book, so these are all of their bookings.
  const bookings = await findBookingsOfUser(db, user.owner_id, user.id)
  for (const booking of bookings) await eraseBooking(context, booking, at)
  for (const booking of bookings) await eraseMessages(context, booking, at)
  for (const response of await findResponsesOf(db, user.owner_id, user.id))
    await overwriteResponse(db, response, eraseResponse(response.body, user.id, at))
  await eraseReasons(
    db,
    user.owner_id,
    bookings.map(({ id }) => bookingTarget(id)),
  )
  await overwriteUser(db, user, { at, now: context.clock() })
}

/**
 * Marks the guest as being erased. An erasure and a booking both advance the host's clock first, so the later of the
 * two sees the other. Returns the time of the erasure.
 */
async function begin({ db, clock, mayHaveOpenStays, at }: Erasure, user: StoredUser): Promise<Date> {
  const { owner_id, id } = user
  if (user.erasing_at) return user.erasing_at
  return inTransaction(db, hostQueue(owner_id), async (session) => {
    await countErasure(db, session, owner_id)
    const now = clock()
    // The guest may have booked since they were selected for erasure.
    if (!mayHaveOpenStays) requireNoOpenStay(await findBookingsOfUser(db, owner_id, id, session), now)
    await recordAction(db, { owner_id, at: now, action: 'guests erase', target: `user ${id}` }, session)
    return markErasing(db, session, user, { at, now })
  })
}

/** Erases the guest's data in a booking and closes its conversation permanently. */
async function eraseBooking(context: Erasure, { owner_id, id }: StoredBooking, at: Date): Promise<void> {
  const { db, clock } = context
  const conversation = { owner_id, booking_id: id }
  await ensureConversation(db, conversation)
  await waitForClock(context, owner_id, 'last')
  await inTransaction(db, hostQueue(owner_id), async (session) => {
    const found = await findBookingsToChange(db, session, owner_id, [id])
    const seen = found.get(id) as StoredBooking
    if (seen.erased_at) return
    const values = { special_requests: null, cancellation_reason: null, erased_at: at }
    await changeBookings(db, session, [{ seen, values, trace: currentTraceparent() }], clock())
    await closeErased(db, session, conversation, at)
  })
}

async function eraseMessages(context: Erasure, { owner_id, id }: StoredBooking, at: Date): Promise<void> {
  const { db, clock } = context
  const conversation = { owner_id, booking_id: id }
  for (;;) {
    await waitForClock(context, owner_id, 'messages_last')
    const overwritten = await inTransaction(db, hostQueue(owner_id), async (session) => {
      const found = await findUnerased(db, session, conversation, messagesPerTransaction)
      if (found.length === 0) return 0
      const first = await nextMessageVersions(db, session, owner_id, {
        now: clock(),
        count: found.length,
      })
      const erased = found.map(({ id: message, sender, sender_name }, index) => ({
        owner_id,
        id: message,
        erased_at: at,
        sender_name: sender === 'guest' ? erasedName : sender_name,
        version: versionAt(first, index),
      }))
      await overwriteMessages(db, session, erased)
      return found.length
    })
    if (overwritten < messagesPerTransaction) return
  }
}

/** Waits until the host's versions are no longer too far ahead of the clock. */
async function waitForClock(
  { db, clock, isBeforeServing }: Erasure,
  ownerId: number,
  counter: Counter,
): Promise<void> {
  while (!isBeforeServing) {
    const ahead = (await readHostClock(db, ownerId, counter)).getTime() - clock().getTime()
    if (ahead < maxAheadMilliseconds) return
    await Bun.sleep(pollEveryMilliseconds)
  }
}

/**
 * Returns a stored response body without the guest's personal data. Personal fields anywhere in `data` get the values
 * of an erased guest, and `erased_at` gets the time of the erasure. No field is added: a response that never had
 * `erased_at`, such as that of a create, has none afterwards.
 */
function eraseResponse(body: string, userId: number, at: Date): string {
  const values: Record<string, unknown> = {
    ...erasedPerson(userId),
    special_requests: null,
    cancellation_reason: null,
    notes: null,
    erased_at: toTimestamp(at),
  }
  const erase = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(erase)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, name in values ? values[name] : erase(part)]),
    )
  }
  const { data, ...rest } = JSON.parse(body)
  return JSON.stringify({ data: erase(data), ...rest })
}
