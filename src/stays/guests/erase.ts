import { bookingTarget, eraseReasons, recordAction } from '../../access/audit/store.ts'
import { toDay, toTimestamp } from '../../core/clock.ts'
import type { AppContext } from '../../http/context.ts'
import { findResponsesOf, overwriteResponse } from '../../http/idempotency/store.ts'
import { carryOut } from '../../platform/mongo/transactions.ts'
import {
  hostQueue,
  nextMessageVersions,
  nextSequence,
  readHostClock,
} from '../../versions/host-clock-store.ts'
import type { Counter } from '../../versions/model.ts'
import type { StoredBooking } from '../bookings/model.ts'
import { bookingStatus } from '../bookings/status.ts'
import { changeBooking, findBooking, findBookingsOfUser } from '../bookings/store.ts'
import { closeErased, ensureConversation, findUnerased, overwriteMessages } from '../messages/store.ts'
import { erasedName, erasedPerson } from '../users/erased.ts'
import type { StoredUser } from '../users/model.ts'
import { markErasing, overwriteUser } from '../users/store.ts'

type Context = Pick<AppContext, 'db' | 'clock'> & {
  /** Nothing is served yet, after a restore, and all versions are far ahead: there is nobody to wait for. */
  isUnserved?: boolean
  mayHaveOpenStays?: boolean
  /** Called before anything is overwritten, once the guest can book no more. */
  onBegun?: () => void
}

/** The guest has a stay that is not over. */
export class OpenStayError extends Error {
  override readonly name = 'OpenStayError'
  constructor(bookingId: number) {
    super(
      `The guest has a stay that is not over (booking ${bookingId}): cancel it, or give --with-open-stays`,
    )
  }
}

/** Messages that one transaction overwrites. */
const messagesAtOnce = 100
/** While the versions of a host are so far ahead of the clock, nothing more is erased: its pollers go by them. */
const maxAheadMilliseconds = 600_000
const lookEveryMilliseconds = 1000

/** What was erased of a guest: what a repeat after a restore needs to know. */
export interface Receipt {
  user_id: number
  host_id: number
  user_created_at: string
  at: string
}

/** The receipt of an erasure. */
export function receiptOf({ id, host_id, created_at }: StoredUser, at: Date): Receipt {
  return { user_id: id, host_id, user_created_at: created_at.toISOString(), at: at.toISOString() }
}

/** @throws OpenStayError */
export function requireNoOpenStay(bookings: StoredBooking[], now: Date): void {
  const [open] = openStays(bookings, now)
  if (open) throw new OpenStayError(open.id)
}

/** Stays that are not over: neither cancelled nor with a departure before today, in UTC. */
export function openStays(bookings: StoredBooking[], now: Date): StoredBooking[] {
  const today = toDay(now)
  return bookings.filter(
    ({ status, checkout_at }) => status !== bookingStatus.cancelled && checkout_at >= today,
  )
}

/**
 * Erases what is stored of a guest (decisions §26). Each booking and each message gets a new version by it, so that pollers
 * learn of it as of any other change. Killed at any point, it leaves what a repeat finishes; a repeat of what is finished
 * changes nothing.
 *
 * @throws OpenStayError if a stay is not over when the erasure begins, unless it may
 */
export async function eraseGuest(context: Context, user: StoredUser): Promise<void> {
  const { db } = context
  await begin(context, user)
  context.onBegun?.()
  // From here on there will be no further booking, so these are all.
  const bookings = await findBookingsOfUser(db, user.host_id, user.id)
  const erasedAt = new Map<number, Date>()
  for (const booking of bookings) erasedAt.set(booking.id, await eraseBooking(context, booking))
  for (const booking of bookings) await eraseMessages(context, booking)
  for (const response of await findResponsesOf(db, user.host_id, user.id))
    await overwriteResponse(db, response, eraseResponse(response.body, user.id, erasedAt))
  await eraseReasons(
    db,
    user.host_id,
    bookings.map(({ id }) => bookingTarget(id)),
  )
  await overwriteUser(db, user, context.clock())
}

/** The clock of the host is written first, as every booking does: whichever is later sees the other. */
async function begin({ db, clock, mayHaveOpenStays }: Context, user: StoredUser): Promise<void> {
  const { host_id, id } = user
  if (user.erasing_at) return
  await carryOut(db, {
    queue: hostQueue(host_id),
    async run(session) {
      await nextSequence(db, session, host_id)
      const now = clock()
      // A guest may have booked since somebody chose to erase them.
      if (!mayHaveOpenStays) requireNoOpenStay(await findBookingsOfUser(db, host_id, id, session), now)
      await markErasing(db, session, user, now)
      await recordAction(db, { host_id, at: now, action: 'guests erase', target: `user ${id}` }, session)
    },
  })
}

/** The booking, and its conversation, which stays closed; returns when the booking was erased. */
async function eraseBooking(context: Context, { host_id, id }: StoredBooking): Promise<Date> {
  const { db, clock } = context
  const conversation = { host_id, booking_id: id }
  await ensureConversation(db, conversation)
  await untilNear(context, host_id, 'last')
  return carryOut(db, {
    queue: hostQueue(host_id),
    async run(session) {
      const now = clock()
      const seen = await findBooking(db, host_id, id, session)
      if (seen.erased_at) return seen.erased_at
      const nothing = { special_requests: null, cancellation_reason: null, erased_at: now }
      await changeBooking(db, session, seen, nothing, now)
      await closeErased(db, session, conversation, now)
      return now
    },
  })
}

async function eraseMessages(context: Context, { host_id, id }: StoredBooking): Promise<void> {
  const { db, clock } = context
  const conversation = { host_id, booking_id: id }
  for (let left = messagesAtOnce; left === messagesAtOnce; ) {
    await untilNear(context, host_id, 'messages_last')
    left = await carryOut(db, {
      queue: hostQueue(host_id),
      async run(session) {
        const found = await findUnerased(db, session, conversation, messagesAtOnce)
        if (found.length === 0) return 0
        const now = clock()
        const first = await nextMessageVersions(db, session, host_id, now, found.length)
        const overwritten = found.map(({ id: message, sender, sender_name }, index) => ({
          ...{ host_id, id: message, erased_at: now },
          sender_name: sender === 'guest' ? erasedName : sender_name,
          version: new Date(first.getTime() + index * 1000),
        }))
        await overwriteMessages(db, session, overwritten)
        return found.length
      },
    })
  }
}

/** Waits until the versions of a host are not too far ahead of the clock. */
async function untilNear(
  { db, clock, isUnserved }: Context,
  hostId: number,
  counter: Counter,
): Promise<void> {
  while (!isUnserved) {
    const ahead = (await readHostClock(db, hostId, counter)).getTime() - clock().getTime()
    if (ahead < maxAheadMilliseconds) return
    await Bun.sleep(lookEveryMilliseconds)
  }
}

/**
 * The stored response to a request about a guest, in its erased form: what tells of the person has the value that is stored
 * in its place, wherever in the body it stands, and a booking has the time at which it was erased.
 *
 * @param erasedAt by the ids of the guest's bookings
 */
export function eraseResponse(body: string, userId: number, erasedAt: ReadonlyMap<number, Date>): string {
  const values: Record<string, unknown> = {
    ...erasedPerson(userId),
    ...{ special_requests: null, cancellation_reason: null, notes: null },
  }
  const erase = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(erase)
    if (typeof value !== 'object' || value === null) return value
    const at = erasedAt.get((value as { booking_id?: number }).booking_id ?? 0)
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => {
        if (name === 'erased_at' && at) return [name, toTimestamp(at)]
        return [name, name in values ? values[name] : erase(part)]
      }),
    )
  }
  const { data, ...rest } = JSON.parse(body)
  return JSON.stringify({ data: erase(data), ...rest })
}
