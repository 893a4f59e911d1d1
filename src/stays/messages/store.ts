import { currentTraceparent } from '../../core/trace.ts'
import { type PageRequest, skipOf } from '../../http/input/pagination.ts'
import { setFields } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { retryDuplicate } from '../../platform/mongo/errors.ts'
import { countFollowing, type FollowingAll } from '../../platform/mongo/following.ts'
import { type Conversation, conversationModel, messageModel, type StoredMessage } from './model.ts'

/** Identifies a booking's conversation by host and booking id. */
export type ConversationId = Pick<Conversation, 'owner_id' | 'booking_id'>

/** Returns one page of a conversation's messages, oldest first, and the total number of messages. */
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

/** Conditions of a feed query on a host's messages, apart from the version range. */
export type MessageFilter = Pick<StoredMessage, 'owner_id'> &
  Partial<Pick<StoredMessage, 'booking_id' | 'sender'>>

/**
 * Returns a range of the matching messages after a version, or of all matching messages if the version is null, in
 * version order.
 */
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

/** Counts the matching messages in a version range, up to `limit`. */
export function countNewMessages(
  db: Db,
  filter: MessageFilter,
  { after, until, limit }: { after: Date | null; until?: Date | undefined; limit?: number | undefined },
): Promise<number> {
  const options = limit === undefined ? {} : { limit }
  return messageModel(db).countDocuments({ ...filter, ...afterVersion(after, until) }, options)
}

/**
 * Returns the version of the message that is followed by exactly `others` messages in a version range, or null if the
 * range has too few messages.
 */
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

/** Returns what follows each of some positions among a host's messages; see {@link countFollowing}. */
export function countMessagesAfterEach(
  db: Db,
  ownerId: number,
  positions: number[],
  limit: number,
): Promise<FollowingAll> {
  const { collection } = messageModel(db)
  return countFollowing({ collection, field: 'version', ownerId }, positions, limit)
}

function afterVersion(version: Date | null, until?: Date) {
  return { version: { $gt: version ?? new Date(0), ...(until ? { $lte: until } : {}) } }
}

// By version: a process with a clock of its own writes `created_at`, and ids are handed out before the transaction.
const newestFirst = { version: -1 } as const

/** Returns the message that came into a conversation last, or null if there is none. */
export function findNewestMessage(
  db: Db,
  { owner_id, booking_id }: ConversationId,
): Promise<StoredMessage | null> {
  const { collection } = messageModel(db)
  return collection.findOne<StoredMessage>({ owner_id, booking_id }, { sort: newestFirst })
}

/** Returns the messages that came into a conversation last, newest first. */
export function findLatestMessages(
  db: Db,
  { owner_id, booking_id }: ConversationId,
  session: Session,
  count: number,
): Promise<StoredMessage[]> {
  const options = { sort: newestFirst, limit: count, batchSize: count + 1, session } as const
  return messageModel(db).collection.find<StoredMessage>({ owner_id, booking_id }, options).toArray()
}

/** Returns true if the conversation is closed. */
export async function isClosed(db: Db, { owner_id, booking_id }: ConversationId): Promise<boolean> {
  return (await conversationModel(db).exists({ owner_id, booking_id, closed_at: { $ne: null } })) !== null
}

/** Returns the ids of a host's bookings whose conversations are closed. */
export async function findClosedConversations(db: Db, owner_id: number): Promise<number[]> {
  const closed = await conversationModel(db)
    .find({ owner_id, closed_at: { $ne: null } }, { booking_id: 1 })
    .lean()
  return closed.map(({ booking_id }) => booking_id)
}

/** Returns a new message, which nobody has seen. */
export function newMessage(sent: Omit<StoredMessage, 'is_seen' | 'erased_at'>): StoredMessage {
  return {
    id: sent.id,
    owner_id: sent.owner_id,
    booking_id: sent.booking_id,
    listing_id: sent.listing_id,
    sender: sent.sender,
    sender_name: sent.sender_name,
    text: sent.text,
    is_seen: false,
    place: sent.place,
    created_at: sent.created_at,
    version: sent.version,
    erased_at: null,
    trace: sent.trace,
  }
}

/** Stores new messages. */
export async function insertMessages(db: Db, session: Session, messages: StoredMessage[]): Promise<void> {
  // The driver adds an `_id` to each document that it is given.
  const documents = messages.map((message) => ({ ...message }))
  await messageModel(db).collection.insertMany(documents, { session })
}

/**
 * Adds a number of sends to the send counter of a conversation, so that concurrent sends run one at a time and none passes
 * a close that it has not seen. Creates the conversation with its first send. If two processes do so at once, their
 * transactions conflict, and the second starts over.
 */
export async function advanceConversation(
  db: Db,
  session: Session,
  conversation: ConversationId,
  sends: number,
): Promise<Conversation> {
  const change = { $inc: { sends }, $setOnInsert: { closed_at: null, erased_at: null } }
  const options = { session, upsert: true, returnDocument: 'after' } as const
  const advance = conversationModel(db).collection.findOneAndUpdate(
    conversation,
    change,
    options,
  ) as Promise<Conversation | null>
  // With an upsert, there always is one.
  return (await advance) as Conversation
}

/** Creates the conversation, outside any transaction, if it does not exist. */
export async function ensureConversation(db: Db, conversation: ConversationId): Promise<void> {
  if (await conversationModel(db).exists(conversation)) return
  // If another process inserts the document first, the retry matches it and is acknowledged only after a majority has
  // it, so every later transaction sees it.
  await retryDuplicate(() =>
    conversationModel(db)
      .updateOne(conversation, { $setOnInsert: { closed_at: null, sends: 0 } }, { upsert: true })
      .exec(),
  )
}

/** Closes a conversation as of a given time, or reopens it if the time is null. Returns the updated conversation. */
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

/** Returns true if the conversation's guest has been erased. */
export async function isErased(db: Db, conversation: ConversationId): Promise<boolean> {
  return (await conversationModel(db).exists({ ...conversation, erased_at: { $ne: null } })) !== null
}

/** Closes a conversation permanently. An existing `closed_at` is kept. */
export async function closeErased(
  db: Db,
  session: Session,
  conversation: ConversationId,
  now: Date,
): Promise<void> {
  await setFields(conversationModel(db), session, [
    { filter: { ...conversation, closed_at: null }, set: { closed_at: now } },
    { filter: { ...conversation, erased_at: null }, set: { erased_at: now } },
  ])
}

/** Returns up to `limit` of a conversation's messages that have not been erased yet, ordered by id. */
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

/** Returns all messages of a conversation, oldest first. */
export function findAllMessages(db: Db, conversation: ConversationId): Promise<StoredMessage[]> {
  return messageModel(db).find(conversation).sort({ created_at: 1, id: 1 }).lean()
}

/** Overwrites the text and sender names of messages, and gives each message a new version. */
export async function overwriteMessages(
  db: Db,
  session: Session,
  messages: (Pick<StoredMessage, 'owner_id' | 'id' | 'sender_name' | 'version'> & { erased_at: Date })[],
): Promise<void> {
  const trace = currentTraceparent()
  const changes = messages.map(({ owner_id, id, ...change }) => ({
    filter: { owner_id, id },
    set: { ...change, text: erasedText, trace },
  }))
  await setFields(messageModel(db), session, changes)
}

/** Text of an erased message. */
export const erasedText = '[erased]'
