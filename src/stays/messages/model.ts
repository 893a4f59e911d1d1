import { modelOf } from '../../platform/mongo/collections.ts'
import { type Field, field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const fields = {
  id: field.number,
  owner_id: field.number,
  booking_id: field.number,
  /** Id of the booking's listing, which never changes. */
  listing_id: field.number,
  sender: field.literal<'guest' | 'host'>(),
  sender_name: field.text,
  text: field.text,
  is_seen: field.flag,
  /**
   * The conversation's `sends` once the message was sent, so that a later send can tell whether this message is still the
   * newest; 0 for the booking's own message. Absent from messages of earlier releases.
   */
  place: { type: Number } as Field<number | undefined>,
  created_at: field.moment,
  /** The message's position in the message feed: a whole second, unique among the host's messages. */
  version: field.moment,
  /** Time at which the message was erased; null if it has not been erased. */
  erased_at: field.momentOrNull,
  /** The `traceparent` of the change that gave the message its version; null if that change was not traced. */
  trace: field.textOrNull,
}

export type StoredMessage = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, booking_id: 1, created_at: 1, id: 1 }, { name: 'message_order' })
schema.index({ owner_id: 1, id: 1 }, { unique: true, name: 'message_id' })
schema.index({ owner_id: 1, version: 1 }, { unique: true, name: 'message_version' })
schema.index({ owner_id: 1, booking_id: 1, version: 1 }, { name: 'message_booking_version' })

export const messageModel = modelOf<StoredMessage>('messages', schema, { owner: 'owner_id' })

const conversationFields = {
  owner_id: field.number,
  booking_id: field.number,
  closed_at: field.momentOrNull,
  /** Send counter. Every send increments it, so that concurrent sends to the same conversation run one at a time. */
  sends: { ...field.number, default: 0 },
  /**
   * Time at which the guest was erased; null if the guest has not been erased. An erased guest's conversation stays
   * closed.
   */
  erased_at: field.momentOrNull,
}

/**
 * State of a booking's conversation. The document is created when the first message after the booking's own message is
 * sent, or when the conversation is first closed, reopened or erased.
 */
export type Conversation = Stored<typeof conversationFields>

const conversationSchema = schemaOf(conversationFields)
conversationSchema.index({ owner_id: 1, booking_id: 1 }, { unique: true, name: 'conversation_booking' })

export const conversationModel = modelOf<Conversation>('conversations', conversationSchema, {
  owner: 'owner_id',
})
