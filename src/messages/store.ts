import { findBookingOfAnyHost } from '../bookings/store.ts'
import type { Deps } from '../deps.ts'
import { DomainError } from '../errors.ts'
import { findBooking } from '../feed/store.ts'
import { type PageRequest, skipOf } from '../http/pagination.ts'
import { breaksUniqueIndex, inTransaction } from '../infra/mongo.ts'
import { type Conversation, conversationModel, type Message, messageModel } from './model.ts'
import type { Message as MessageOnWire } from './schema.ts'

type Store = Pick<Deps, 'db' | 'clock' | 'config' | 'ids'>

/**
 * One page of a booking's messages, oldest first, and how many there are.
 *
 * @throws DomainError `not_found` for a booking that is not the host's
 */
export async function listMessages(
  { db }: Pick<Store, 'db'>,
  hostId: number,
  bookingId: number | undefined,
  page: PageRequest,
): Promise<{ rows: Message[]; total: number }> {
  const { id } = await findBooking({ db }, hostId, bookingId)
  const filter = { host_id: hostId, booking_id: id }
  const [total, rows] = await Promise.all([
    messageModel(db).countDocuments(filter),
    messageModel(db)
      .find(filter)
      .sort({ created_at: 1, id: 1 })
      .skip(skipOf(page))
      .limit(page.perPage)
      .lean(),
  ])
  return { rows, total }
}

/**
 * Sends a message to the guest as the host. The same text again within the window is the first message again.
 * Look, claim and message are one transaction that moves the conversation, so equal sends at once take
 * turns, and a crash leaves either the message or nothing.
 *
 * @throws DomainError `not_found`; `conflict` when the conversation is closed
 */
export async function sendMessage(
  { db, clock, config, ids }: Store,
  host: { hostId: number; name: string },
  bookingId: number | undefined,
  text: string,
): Promise<Message> {
  const { id: booking_id } = await findBooking({ db }, host.hostId, bookingId)
  const filter = { host_id: host.hostId, booking_id }
  const id = await ids('message')
  await openConversation({ db }, filter)
  return inTransaction(db, `conversation/${host.hostId}/${booking_id}`, async (session) => {
    const options = { session, new: true }
    const conversation = await conversationModel(db)
      .findOneAndUpdate(filter, { $inc: { sends: 1 } }, options)
      .orFail()
    if (conversation.closed_at) throw new DomainError('conflict', 'The conversation is closed')
    const now = clock()
    const windowStart = new Date(now.getTime() - config.messageDedupSeconds * 1000)
    const first = await messageModel(db)
      .findOne({ ...filter, sender: 'host', text, created_at: { $gt: windowStart } })
      .session(session)
      .lean()
    if (first) return first
    const message: Message = {
      ...filter,
      id,
      sender: 'host',
      sender_name: host.name,
      text,
      is_seen: false,
      created_at: now,
    }
    await messageModel(db).create([message], { session })
    return message
  })
}

/** Stores the conversation where there is none; outside of transactions, where two first sends may meet. */
async function openConversation(
  { db }: Pick<Store, 'db'>,
  filter: Pick<Conversation, 'host_id' | 'booking_id'>,
) {
  try {
    await conversationModel(db).updateOne(
      filter,
      { $setOnInsert: { closed_at: null, sends: 0 } },
      { upsert: true },
    )
  } catch (error) {
    if (!breaksUniqueIndex(error, 'conversation_booking')) throw error
  }
}

/**
 * Closes or reopens the conversation of a booking, of whatever host: an administrator's act.
 *
 * @throws DomainError `not_found`
 */
export async function setConversationClosed(
  { db, clock }: Pick<Store, 'db' | 'clock'>,
  bookingId: number,
  isClosed: boolean,
): Promise<Conversation> {
  const { host_id, id: booking_id } = await findBookingOfAnyHost({ db }, bookingId)
  await openConversation({ db }, { host_id, booking_id })
  const change = { $set: { closed_at: isClosed ? clock() : null } }
  return conversationModel(db)
    .findOneAndUpdate({ host_id, booking_id }, change, { new: true })
    .lean()
    .orFail()
}

/** A message as the contract writes it. */
export function toWire({ id, sender, sender_name, text, is_seen }: Message): MessageOnWire {
  return { id, sender, sender_name, text, is_seen }
}
