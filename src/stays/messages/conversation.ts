import { DomainError } from '../../core/errors.ts'
import { hostQueue, nextMessageVersions } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import { batch, carryOut } from '../../http/write.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import type { Traced } from '../../platform/mongo/turns/transactions.ts'
import { findUserIfAny } from '../users/store.ts'
import type { Conversation, StoredMessage } from './model.ts'
import {
  advanceConversation,
  type ConversationId,
  ensureConversation,
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
export const newMessages = batch({
  queue: hostQueue,
  prepare: prepareMessage,
  ensure: ({ db }: Pick<AppContext, 'db'>, owner_id, { booking }: NewMessage) =>
    ensureConversation(db, { owner_id, booking_id: booking.id }),
  write: sendMessages,
})

/** A message that is to be sent in a booking's conversation. */
interface MessageToSend {
  booking: ConversationBooking
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

/**
 * Returns true if a message repeats the newest one of its conversation. One that came in between makes it a new message:
 * a second "Yes." after "No." is an answer of its own (decisions §10).
 */
function repeats(
  sent: Pick<StoredMessage, 'sender' | 'text'>,
  newest: StoredMessage | null,
  windowStart: Date,
): newest is StoredMessage {
  if (newest === null) return false
  // If this breaks: a message that is sent again is stored again
  return newest.sender === sent.sender && newest.text === sent.text && newest.created_at > windowStart
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
  return carryOut(context, newMessages, booking.owner_id, { booking, message, ...(also ? { also } : {}) })
}

/** A message that is ready to be sent. */
interface NewMessage extends Pick<StoredMessage, 'id' | 'sender' | 'sender_name' | 'text'> {
  booking: ConversationBooking
  also: ((session: Session) => Promise<void>) | undefined
}

async function prepareMessage(
  { ids }: Pick<AppContext, 'ids'>,
  _ownerId: number,
  { booking, message, also }: MessageToSend,
): Promise<NewMessage> {
  return { id: await ids('message'), ...message, booking, also }
}

/** Stores messages of one host, one after the other, because each may repeat the one before it. */
async function sendMessages(
  app: Pick<AppContext, 'db' | 'clock' | 'config'>,
  session: Session,
  _ownerId: number,
  messages: Traced<NewMessage>[],
): Promise<SentMessage[]> {
  const outcomes: SentMessage[] = []
  for (const message of messages) outcomes.push(await sendMessage(app, session, message))
  return outcomes
}

/**
 * Stores a message. If the conversation ends with the same text from the same side, sent within the deduplication
 * window, that message is returned instead (decisions §10). The lookup and the insert share a transaction that increments
 * the send counter, so that concurrent sends to a conversation run one at a time. A crash leaves either the complete
 * message or nothing.
 *
 * @throws DomainError `conflict` if the conversation is closed
 */
async function sendMessage(
  { db, clock, config }: Pick<AppContext, 'db' | 'clock' | 'config'>,
  session: Session,
  { id, booking, sender, sender_name, text, also, trace }: Traced<NewMessage>,
): Promise<SentMessage> {
  const { id: booking_id, owner_id, listing_id } = booking
  const conversation = { owner_id, booking_id }
  const { closed_at } = await advanceConversation(db, session, conversation)
  if (closed_at) throw new DomainError('conflict', 'The conversation is closed')
  await also?.(session)
  const created_at = clock(owner_id)
  const newest = await findNewestMessage(db, conversation, session)
  if (repeats({ sender, text }, newest, windowStartOf({ clock, config }, owner_id)))
    return { message: newest, isDuplicate: true }
  const version = await nextMessageVersions(db, session, owner_id, { now: created_at, count: 1 })
  const message = newMessage({
    id,
    owner_id,
    booking_id,
    listing_id,
    sender,
    sender_name,
    text,
    created_at,
    version,
    trace,
  })
  await insertMessages(db, session, [message])
  return { message, isDuplicate: false }
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
