import { findBooking, findBookingOfAnyHost } from '../bookings/store.ts'
import type { AppContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { PageRequest } from '../http/pagination.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { inTransaction } from '../platform/mongo/transactions.ts'
import type { Conversation, StoredMessage } from './model.ts'
import {
  advanceConversation,
  ensureConversation,
  findDuplicate,
  findMessages,
  insertMessage,
  setClosedAt,
} from './store.ts'

/**
 * One page of a booking's messages, oldest first, and how many there are.
 *
 * @throws DomainError `not_found` for a booking that is not the host's
 */
export async function listMessages(
  db: Db,
  hostId: number,
  bookingId: number | undefined,
  page: PageRequest,
): Promise<{ rows: StoredMessage[]; total: number }> {
  const { id } = await findBooking(db, hostId, bookingId)
  return findMessages(db, { host_id: hostId, booking_id: id }, page)
}

/**
 * Sends a message to the guest as the host. An equal text within the window returns the first message again
 * (decisions §10). Look-up and message are one transaction that advances the conversation, so identical sends at once
 * take turns, and a crash leaves either the message or nothing.
 *
 * @throws DomainError `not_found`; `conflict` when the conversation is closed
 */
export async function sendMessage(
  { db, clock, config, ids }: Pick<AppContext, 'db' | 'clock' | 'config' | 'ids'>,
  host: { hostId: number; name: string },
  bookingId: number | undefined,
  text: string,
): Promise<StoredMessage> {
  const { id: booking_id } = await findBooking(db, host.hostId, bookingId)
  const conversation = { host_id: host.hostId, booking_id }
  const id = await ids('message')
  const send = () =>
    inTransaction(db, `conversation/${host.hostId}/${booking_id}`, async (session) => {
      const stored = await advanceConversation(db, session, conversation)
      if (!stored) return null
      if (stored.closed_at) throw new DomainError('conflict', 'The conversation is closed')
      const created_at = clock()
      const windowStart = new Date(created_at.getTime() - config.messageDedupSeconds * 1000)
      const first = await findDuplicate(db, session, conversation, text, windowStart)
      if (first) return first
      const sender = { sender: 'host', sender_name: host.name } as const
      const message = { ...conversation, id, ...sender, text, is_seen: false, created_at }
      await insertMessage(db, session, message)
      return message
    })
  for (;;) {
    const sent = await send()
    if (sent) return sent
    await ensureConversation(db, conversation)
  }
}

/**
 * Closes or reopens the conversation of a booking of any host: an administrative action.
 *
 * @throws DomainError `not_found`
 */
export async function setConversationClosed(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  bookingId: number,
  isClosed: boolean,
): Promise<Conversation> {
  const { host_id, id: booking_id } = await findBookingOfAnyHost(db, bookingId)
  const conversation = { host_id, booking_id }
  await ensureConversation(db, conversation)
  return setClosedAt(db, conversation, isClosed ? clock() : null)
}
