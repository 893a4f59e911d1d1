import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'

export interface StoredMessage {
  id: number
  host_id: number
  booking_id: number
  /** Of the booking, which never changes it. */
  listing_id: number
  sender: 'guest' | 'host'
  sender_name: string
  text: string
  is_seen: boolean
  created_at: Date
  /** Its position in the message feed: a whole second, unique among the host's messages. */
  version: Date
}

const schema = new Schema<StoredMessage>({
  id: { type: Number, required: true },
  host_id: { type: Number, required: true },
  booking_id: { type: Number, required: true },
  listing_id: { type: Number, required: true },
  sender: { type: String, required: true },
  sender_name: { type: String, required: true },
  text: { type: String, required: true },
  is_seen: { type: Boolean, required: true },
  created_at: { type: Date, required: true },
  version: { type: Date, required: true },
})
schema.index({ host_id: 1, booking_id: 1, created_at: 1, id: 1 }, { name: 'message_order' })
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'message_id' })
schema.index({ host_id: 1, version: 1 }, { unique: true, name: 'message_version' })
schema.index({ host_id: 1, booking_id: 1, version: 1 }, { name: 'message_booking_version' })

export const messageModel = modelOf<StoredMessage>('messages', schema)

/** The state of a booking's conversation. Stored once the host sends a message or the conversation is closed. */
export interface Conversation {
  host_id: number
  booking_id: number
  closed_at: Date | null
  /** Advances with every message, so that sends to one conversation take turns. */
  sends: number
}

const conversationSchema = new Schema<Conversation>({
  host_id: { type: Number, required: true },
  booking_id: { type: Number, required: true },
  closed_at: { type: Date, default: null },
  sends: { type: Number, default: 0 },
})
conversationSchema.index({ host_id: 1, booking_id: 1 }, { unique: true, name: 'conversation_booking' })

export const conversationModel = modelOf<Conversation>('conversations', conversationSchema)
