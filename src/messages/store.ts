import { type PageRequest, skipOf } from '../http/pagination.ts'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { breaksUniqueIndex } from '../platform/mongo/errors.ts'
import { type Conversation, conversationModel, messageModel, type StoredMessage } from './model.ts'

/** The conversation of a booking, by its host and booking id. */
export type ConversationId = Pick<Conversation, 'host_id' | 'booking_id'>

/** One page of a conversation's messages, oldest first, and how many there are. */
export async function findMessages(
  db: Db,
  conversation: ConversationId,
  page: PageRequest,
): Promise<{ rows: StoredMessage[]; total: number }> {
  const [total, rows] = await Promise.all([
    messageModel(db).countDocuments(conversation),
    messageModel(db)
      .find(conversation)
      .sort({ created_at: 1, id: 1 })
      .skip(skipOf(page))
      .limit(page.perPage)
      .lean(),
  ])
  return { rows, total }
}

/** The first message of this text that the host sent after a moment. */
export async function findDuplicate(
  db: Db,
  session: Session,
  conversation: ConversationId,
  text: string,
  after: Date,
): Promise<StoredMessage | null> {
  return messageModel(db)
    .findOne({ ...conversation, sender: 'host', text, created_at: { $gt: after } })
    .session(session)
    .lean()
}

/** Stores a new message. */
export async function insertMessage(db: Db, session: Session, message: StoredMessage): Promise<void> {
  await messageModel(db).collection.insertOne({ ...message }, { session })
}

/** Stores the guest's message of a new booking, dated like the booking. */
export async function insertFirstMessage(
  db: Db,
  session: Session,
  id: number,
  booking: { id: number; host_id: number; created_at: Date },
  sender_name: string,
  text: string,
): Promise<void> {
  await insertMessage(db, session, {
    id,
    host_id: booking.host_id,
    booking_id: booking.id,
    sender: 'guest',
    sender_name,
    text,
    is_seen: false,
    created_at: booking.created_at,
  })
}

/** Advances a conversation, so that sends to it take turns; null where none is stored yet. */
export async function advanceConversation(
  db: Db,
  session: Session,
  conversation: ConversationId,
): Promise<Conversation | null> {
  return conversationModel(db)
    .findOneAndUpdate(conversation, { $inc: { sends: 1 } }, { session, new: true })
    .lean()
}

/** Stores the conversation if there is none. Call it before the transaction of a send, in which two first sends would collide. */
export async function ensureConversation(db: Db, conversation: ConversationId): Promise<void> {
  try {
    await conversationModel(db).updateOne(
      conversation,
      { $setOnInsert: { closed_at: null, sends: 0 } },
      { upsert: true },
    )
  } catch (error) {
    if (!breaksUniqueIndex(error, 'conversation_booking')) throw error
  }
}

/** Closes a conversation at a moment, or reopens it with null. */
export async function setClosedAt(
  db: Db,
  conversation: ConversationId,
  closed_at: Date | null,
): Promise<Conversation> {
  return conversationModel(db)
    .findOneAndUpdate(conversation, { $set: { closed_at } }, { new: true })
    .lean()
    .orFail()
}
