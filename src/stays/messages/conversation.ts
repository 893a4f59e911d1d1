import { DomainError } from '../../core/errors.ts'
import { hostQueue, nextMessageVersions, versionAt } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import { batch, carryOut } from '../../http/write.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import type { Traced } from '../../platform/mongo/turns/transactions.ts'
import { findUserIfAny } from '../users/store.ts'
import type { Conversation, StoredMessage } from './model.ts'
import {
  advanceConversation,
  type ConversationId,
  ensureConversation,
  findLatestMessages,
  findNewestMessage,
  insertMessages,
  isClosed,
  isErased,
  newMessage,
  setClosedAt,
} from './store.ts'

/** The booking that a conversation belongs to. */
export interface ConversationBooking {
  id: number
  owner_id: number
  listing_id: number
}

/** A message that was sent, or the earlier message that it repeats. */
export interface SentMessage {
  message: StoredMessage
  /** True if nothing was stored, because the message was sent before and is still the last of its conversation. */
  isDuplicate: boolean
}

/** Messages of either side. */
export const newMessages = batch({ queue: hostQueue, prepare: prepareMessage, write: sendMessages })

/** A message that is to be sent in a booking's conversation. */
interface MessageToSend {
  /** Undefined for an id that no booking can have. */
  bookingId: number | undefined
  /** Looks up the booking with this id, or throws a DomainError `not_found`. */
  findBooking: () => Promise<ConversationBooking>
  message: Pick<StoredMessage, 'sender' | 'sender_name' | 'text'>
  /** Performs additional writes within the message's transaction. */
  also?: (session: Session) => Promise<void>
}

/**
 * Returns the host's last message if the same text would only repeat it. A shared cache remembers the messages sent
 * within the deduplication window, so that a repeated send needs no transaction (decisions §10). What the cache remembers
 * is only a reason to look: the database decides whether the conversation still ends with that message.
 */
export async function findRepeated(
  context: Pick<AppContext, 'db' | 'clock' | 'config' | 'cache'>,
  conversation: ConversationId,
  text: string,
): Promise<SentMessage | null> {
  const { db, cache } = context
  const { owner_id } = conversation
  if ((await cache.get(nameOf(context, { ...conversation, text }))) === null) return null
  const [newest, closed] = await Promise.all([
    findNewestMessage(db, conversation),
    isClosed(db, conversation),
  ])
  if (closed || !repeats({ sender: 'host', text }, newest, windowStartOf(context, owner_id))) return null
  return { message: newest, isDuplicate: true }
}

/** Remembers a message that the host has sent, for {@link findRepeated}. */
export function remember(
  context: Pick<AppContext, 'db' | 'clock' | 'config' | 'cache'>,
  { message }: SentMessage,
): void {
  const { cache, clock, config } = context
  const age = clock(message.owner_id).getTime() - message.created_at.getTime()
  const left = Math.max(1, config.messageDedupSeconds * 1000 - age)
  cache.set(nameOf(context, message), String(message.id), left)
}

/** Name under which the cache remembers a message. It contains a hash, because a text may be personal. */
function nameOf(
  { db }: Pick<AppContext, 'db'>,
  { owner_id, booking_id, text }: Pick<StoredMessage, 'owner_id' | 'booking_id' | 'text'>,
): string {
  return `message:${sha256(JSON.stringify([db.name, owner_id, booking_id, text]))}`
}

/** Returns the start of the deduplication window. An identical message that was sent after this time may be repeated. */
function windowStartOf({ clock, config }: Pick<AppContext, 'clock' | 'config'>, ownerId: number): Date {
  return new Date(clock(ownerId).getTime() - config.messageDedupSeconds * 1000)
}

/** Returns true if a message has the side and the text of one that was sent within the deduplication window. */
function repeats<Earlier extends Pick<StoredMessage, 'sender' | 'text' | 'created_at'>>(
  sent: Pick<StoredMessage, 'sender' | 'text'>,
  earlier: Earlier | null,
  windowStart: Date,
): earlier is Earlier {
  if (earlier === null) return false
  // If this breaks: a message that is sent again is stored again
  return earlier.sender === sent.sender && earlier.text === sent.text && earlier.created_at > windowStart
}

function sha256(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('base64url')
}

/**
 * Replies to the host on the guest's behalf, for administrators and the sandbox.
 *
 * @param find looks up the booking
 * @param also performs additional writes within the message's transaction
 * @throws DomainError `not_found`; `conflict` if the conversation is closed
 */
export async function replyAsGuest(
  context: Pick<AppContext, 'db' | 'clock' | 'config' | 'ids'>,
  find: () => Promise<ConversationBooking & { user_id: number }>,
  text: string,
  also?: (session: Session) => Promise<void>,
): Promise<SentMessage> {
  const booking = await find()
  const guest = await findUserIfAny(context.db, booking.owner_id, booking.user_id)
  const message = { sender: 'guest', sender_name: guest?.name ?? '', text } as const
  return carryOut(context, newMessages, booking.owner_id, {
    bookingId: booking.id,
    findBooking: async () => booking,
    message,
    ...(also ? { also } : {}),
  })
}

/** A message that is ready to be sent. */
interface NewMessage extends Pick<StoredMessage, 'id' | 'sender' | 'sender_name' | 'text'> {
  booking: ConversationBooking
  /** The newest message of the conversation when this one was prepared; null if there was none. */
  newest: StoredMessage | null
  also: ((session: Session) => Promise<void>) | undefined
}

async function prepareMessage(
  { db, ids }: Pick<AppContext, 'db' | 'ids'>,
  owner_id: number,
  { bookingId, findBooking, message, also }: MessageToSend,
): Promise<NewMessage> {
  const [id, booking, newest] = await Promise.all([
    ids('message'),
    findBooking(),
    bookingId === undefined ? null : findNewestMessage(db, { owner_id, booking_id: bookingId }),
  ])
  return { id, ...message, booking, newest, also }
}

/** A message that has no version yet. */
type MessageDraft = Omit<StoredMessage, 'version' | 'is_seen' | 'erased_at'>

/** A message that is to be stored, or the earlier one that it repeats. */
interface JudgedMessage {
  message: MessageDraft | StoredMessage
  isDuplicate: boolean
}

/** How a conversation ends while messages are added to it. */
interface Ending {
  /** The latest messages, newest first: at least the newest and all that came in after any of the added was prepared. */
  latest: (MessageDraft | StoredMessage)[]
  /** Number of sends so far. */
  sends: number
}

/**
 * Stores messages of one host. If one repeats an earlier message, that message is returned instead (decisions §10). The
 * messages are judged one after the other, by id, because each may repeat the one before it, and are stored together. Judging and storing share a transaction that
 * increments the send counters, so that concurrent sends to a conversation run one at a time. A crash leaves either the
 * complete messages or nothing.
 *
 * @throws DomainError `conflict` if a conversation is closed
 */
async function sendMessages(
  { db, clock, config }: Pick<AppContext, 'db' | 'clock' | 'config'>,
  session: Session,
  ownerId: number,
  messages: Traced<NewMessage>[],
): Promise<SentMessage[]> {
  const endings = await advanceConversations(db, session, messages)
  for (const { also } of messages) await also?.(session)
  const now = clock(ownerId)
  const windowStart = windowStartOf({ clock, config }, ownerId)
  const judged = new Map<NewMessage, JudgedMessage>()
  const drafts: MessageDraft[] = []
  // All of them have one time, so a conversation shows them by their ids, and the feed must not show another order.
  for (const message of messages.toSorted((one, other) => one.id - other.id)) {
    const ending = endings.get(message.booking.id) as Ending
    ending.sends += 1
    const repeated = findRepeatedOf(message, ending, windowStart)
    if (repeated) {
      judged.set(message, { message: repeated, isDuplicate: true })
      continue
    }
    const draft = draftOf(message, ending.sends, now)
    ending.latest.unshift(draft)
    drafts.push(draft)
    judged.set(message, { message: draft, isDuplicate: false })
  }
  const stored = await storeDrafts(db, session, ownerId, { drafts, now })
  return messages.map((sent) => {
    const { message, isDuplicate } = judged.get(sent) as JudgedMessage
    return { message: stored.get(message) ?? (message as StoredMessage), isDuplicate }
  })
}

/**
 * Returns the message of its conversation that a message repeats: the newest one, or one that came in after this one was
 * prepared. Any other message in between makes it a new one: a second "Yes." after "No." is an answer of its own. But a
 * first attempt that waited for its turn, while its repeat and then "No." were stored, is no second "Yes.".
 */
function findRepeatedOf(
  message: NewMessage,
  { latest }: Ending,
  windowStart: Date,
): MessageDraft | StoredMessage | undefined {
  const preparedAfter = placeOf(message.newest)
  return latest.find((earlier, index) => {
    const mayRepeat = index === 0 || (preparedAfter !== undefined && (earlier.place ?? 0) > preparedAfter)
    return mayRepeat && repeats(message, earlier, windowStart)
  })
}

/** Maximum number of the latest messages that are looked at, if many came in while a message waited for its turn. */
const maxLatest = 100

/**
 * Adds the messages to the send counters of their conversations, one statement for each, and returns how each of these
 * conversations ends, by booking id.
 *
 * The close and the counter are looked at within the transaction, because a conversation may have been closed since the
 * message was prepared, by an erasure for example. The latest messages are looked at only if a send was counted since
 * then: otherwise, the newest message is still the one that was found before.
 *
 * @throws DomainError `conflict` if a conversation is closed
 */
async function advanceConversations(
  db: Db,
  session: Session,
  messages: NewMessage[],
): Promise<Map<number, Ending>> {
  const endings = new Map<number, Ending>()
  for (const [booking_id, ofOne] of Map.groupBy(messages, ({ booking }) => booking.id)) {
    const conversation = { owner_id: (ofOne[0] as NewMessage).booking.owner_id, booking_id }
    const { closed_at, sends } = await advanceConversation(db, session, conversation, ofOne.length)
    if (closed_at) throw new DomainError('conflict', 'The conversation is closed')
    const before = sends - ofOne.length
    const missed = Math.max(...ofOne.map((message) => sendsSince(message, before)))
    const latest =
      missed === 0
        ? newestKnownTo(ofOne)
        : await findLatestMessages(db, conversation, session, Math.min(missed, maxLatest))
    endings.set(booking_id, { latest, sends: before })
  }
  return endings
}

/**
 * Returns how many sends were counted since a message was prepared; 1 if an earlier release stored the message that was the
 * newest then, so that the newest one is looked up.
 */
function sendsSince({ newest }: NewMessage, sends: number): number {
  const place = placeOf(newest)
  return place === undefined ? 1 : sends - place
}

/** Returns the newest message of a conversation in which nothing was sent since these messages were prepared. */
function newestKnownTo(messages: NewMessage[]): StoredMessage[] {
  const newest = messages[0]?.newest
  return newest ? [newest] : []
}

/** Returns the place of a conversation's newest message; undefined if an earlier release stored that message. */
function placeOf(newest: StoredMessage | null): number | undefined {
  return newest === null ? 0 : newest.place
}

function draftOf(message: Traced<NewMessage>, place: number, created_at: Date): MessageDraft {
  const { id, booking, sender, sender_name, text, trace } = message
  return {
    id,
    owner_id: booking.owner_id,
    booking_id: booking.id,
    listing_id: booking.listing_id,
    sender,
    sender_name,
    text,
    place,
    created_at,
    trace,
  }
}

/** Stores messages, each with the next version, and returns what is stored of each draft. */
async function storeDrafts(
  db: Db,
  session: Session,
  ownerId: number,
  { drafts, now }: { drafts: MessageDraft[]; now: Date },
): Promise<Map<MessageDraft, StoredMessage>> {
  const stored = new Map<MessageDraft, StoredMessage>()
  if (drafts.length === 0) return stored
  const firstVersion = await nextMessageVersions(db, session, ownerId, { now, count: drafts.length })
  for (const [index, draft] of drafts.entries())
    stored.set(draft, newMessage({ ...draft, version: versionAt(firstVersion, index) }))
  await insertMessages(db, session, [...stored.values()])
  return stored
}

/**
 * Closes or reopens a booking's conversation, for administrators and the sandbox.
 *
 * @throws DomainError `conflict` on an attempt to reopen an erased guest's conversation
 */
export async function setConversationClosed(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  { owner_id, id: booking_id }: Pick<ConversationBooking, 'id' | 'owner_id'>,
  isClosed: boolean,
): Promise<Conversation> {
  const conversation = { owner_id, booking_id }
  await ensureConversation(db, conversation)
  if (!isClosed && (await isErased(db, conversation)))
    throw new DomainError('conflict', 'The guest was erased: their conversations stay closed')
  return setClosedAt(db, conversation, isClosed ? clock(owner_id) : null)
}
