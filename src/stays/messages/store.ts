import { type PageRequest, skipOf } from '../../http/pagination.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { retryDuplicate } from '../../platform/mongo/errors.ts'
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

/** Which messages of a host a feed query matches, apart from their version. */
export type MessageFilter = Pick<StoredMessage, 'host_id'> &
  Partial<Pick<StoredMessage, 'booking_id' | 'sender'>>

/** Messages after a version, in the order of their versions. */
export function findNewMessages(
  db: Db,
  filter: MessageFilter,
  after: Date | null,
  { skip, limit }: { skip: number; limit: number },
): Promise<StoredMessage[]> {
  return messageModel(db)
    .collection.find<StoredMessage>({ ...filter, ...afterVersion(after) })
    .project<StoredMessage>({ _id: 0 })
    .sort({ version: 1 })
    .skip(skip)
    .limit(limit)
    .toArray()
}

/** How many messages there are in a range of versions; counts no further than `limit`. */
export function countNewMessages(
  db: Db,
  filter: MessageFilter,
  { after, until, limit }: { after: Date | null; until?: Date | undefined; limit?: number | undefined },
): Promise<number> {
  const options = limit === undefined ? {} : { limit }
  return messageModel(db).countDocuments({ ...filter, ...afterVersion(after, until) }, options)
}

/** The version of the message in a range of versions after which there are so many others; null where there are fewer. */
export async function findMessageVersionFromEnd(
  db: Db,
  filter: MessageFilter,
  { after, until }: { after: Date | null; until?: Date | undefined },
  others: number,
): Promise<Date | null> {
  const options = { projection: { version: 1 }, sort: { version: -1 }, skip: others } as const
  const range = { ...filter, ...afterVersion(after, until) }
  const found = await messageModel(db).collection.findOne<Pick<StoredMessage, 'version'>>(range, options)
  return found?.version ?? null
}

function afterVersion(version: Date | null, until?: Date) {
  return { version: { $gt: version ?? new Date(0), ...(until ? { $lte: until } : {}) } }
}

/** The first message of this text from this side after a moment. */
export async function findDuplicate(
  db: Db,
  session: Session,
  message: ConversationId & Pick<StoredMessage, 'sender' | 'text'>,
  after: Date,
): Promise<StoredMessage | null> {
  const { host_id, booking_id, sender, text } = message
  return messageModel(db)
    .findOne({ host_id, booking_id, sender, text, created_at: { $gt: after } })
    .session(session)
    .lean()
}

/** The bookings of a host of which the conversation is closed. */
export async function findClosedConversations(db: Db, host_id: number): Promise<number[]> {
  const closed = await conversationModel(db)
    .find({ host_id, closed_at: { $ne: null } }, { booking_id: 1 })
    .lean()
  return closed.map(({ booking_id }) => booking_id)
}

/** Stores a new message. */
export async function insertMessage(db: Db, session: Session, message: StoredMessage): Promise<void> {
  await messageModel(db).collection.insertOne({ ...message }, { session })
}

/** The guest's message of a new booking. */
export type FirstMessage = Pick<StoredMessage, 'id' | 'sender_name' | 'text' | 'version'>

/** Stores the guest's message of a new booking, dated like the booking. */
export async function insertFirstMessage(
  db: Db,
  session: Session,
  booking: { id: number; host_id: number; listing_id: number; created_at: Date },
  message: FirstMessage,
): Promise<void> {
  const { id: booking_id, host_id, listing_id, created_at } = booking
  const about = { host_id, booking_id, listing_id, created_at }
  await insertMessage(db, session, { ...about, sender: 'guest', is_seen: false, erased_at: null, ...message })
}

/** Advances a conversation, which {@link ensureConversation} has stored, so that sends to it take turns. */
export async function advanceConversation(
  db: Db,
  session: Session,
  conversation: ConversationId,
): Promise<Conversation> {
  return conversationModel(db)
    .findOneAndUpdate(conversation, { $inc: { sends: 1 } }, { session, new: true })
    .lean()
    .orFail()
}

/** Stores the conversation if there is none. Call it before the transaction of a send, in which two first sends would collide. */
export async function ensureConversation(db: Db, conversation: ConversationId): Promise<void> {
  if (await conversationModel(db).exists(conversation)) return
  // Repeated where another process was faster: a write that finds it is acknowledged once a majority has it, and then
  // every transaction sees it.
  await retryDuplicate(() =>
    conversationModel(db)
      .updateOne(conversation, { $setOnInsert: { closed_at: null, sends: 0 } }, { upsert: true })
      .exec(),
  )
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

/** True for a conversation of a guest who was erased. */
export async function isErased(db: Db, conversation: ConversationId): Promise<boolean> {
  return (await conversationModel(db).exists({ ...conversation, erased_at: { $ne: null } })) !== null
}

/** Closes a conversation for good; when it was closed before stays. */
export async function closeErased(
  db: Db,
  session: Session,
  conversation: ConversationId,
  now: Date,
): Promise<void> {
  const { collection } = conversationModel(db)
  await collection.updateOne({ ...conversation, closed_at: null }, { $set: { closed_at: now } }, { session })
  await collection.updateOne({ ...conversation, erased_at: null }, { $set: { erased_at: now } }, { session })
}

/** Messages of a conversation that are not erased, as many as one transaction overwrites. */
export function findUnerased(
  db: Db,
  session: Session,
  conversation: ConversationId,
  limit: number,
): Promise<StoredMessage[]> {
  return messageModel(db)
    .collection.find<StoredMessage>({ ...conversation, erased_at: null }, { session })
    .sort({ id: 1 })
    .limit(limit)
    .toArray()
}

/** All messages of a conversation. */
export function findAllMessages(db: Db, conversation: ConversationId): Promise<StoredMessage[]> {
  return messageModel(db).find(conversation).sort({ created_at: 1, id: 1 }).lean()
}

/** Overwrites messages, each with a version of its own. */
export async function overwriteMessages(
  db: Db,
  session: Session,
  messages: (Pick<StoredMessage, 'host_id' | 'id' | 'sender_name' | 'version'> & { erased_at: Date })[],
): Promise<void> {
  const writes = messages.map(({ host_id, id, ...change }) => ({
    updateOne: { filter: { host_id, id }, update: { $set: { ...change, text: erasedText } } },
  }))
  await messageModel(db).collection.bulkWrite(writes, { session })
}

/** What an erased message says. */
export const erasedText = '[erased]'
