import { bookingTarget, findActionsOn } from '../../access/audit/store.ts'
import { findResponsesOf } from '../../http/idempotency/store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findBookingsOfUser } from '../bookings/store.ts'
import { findAllMessages } from '../messages/store.ts'
import type { StoredUser } from '../users/model.ts'

/** Returns a guest's data as stored, except internal ids, the password hash and the index key (decisions §26). */
export async function exportGuest(db: Db, user: StoredUser) {
  const { owner_id, id } = user
  const bookings = await findBookingsOfUser(db, owner_id, id)
  const conversations = await Promise.all(
    bookings.map(async (booking) => ({
      booking_id: booking.id,
      messages: (await findAllMessages(db, { owner_id, booking_id: booking.id })).map(toExported),
    })),
  )
  const responses = await findResponsesOf(db, owner_id, id)
  const targets = [`user ${id}`, ...bookings.map((booking) => bookingTarget(booking.id))]
  const { password_hash, email_key: _, ...person } = user
  return {
    user: { ...toExported(person), has_password: password_hash !== null },
    bookings: bookings.map(toExported),
    conversations,
    stored_responses: responses.map(({ endpoint, status, body, expires_at }) => ({
      endpoint,
      status,
      expires_at,
      body: JSON.parse(body),
    })),
    audit: (await findActionsOn(db, owner_id, targets)).map(toExported),
  }
}

/** Returns a document without the `_id` that the database assigns. Its owner, on live data, is a host. */
function toExported<T extends { owner_id: number }>(document: T) {
  const { _id, owner_id, ...rest } = document as T & { _id?: unknown }
  return { host_id: owner_id, ...rest }
}
