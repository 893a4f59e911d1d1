import { Schema } from 'mongoose'
import { modelOf } from '../infra/mongo.ts'

export interface Message {
  id: number
  host_id: number
  booking_id: number
  sender: 'guest' | 'host'
  sender_name: string
  text: string
  is_seen: boolean
  created_at: Date
}

const schema = new Schema<Message>({
  id: { type: Number, required: true },
  host_id: { type: Number, required: true },
  booking_id: { type: Number, required: true },
  sender: { type: String, required: true },
  sender_name: { type: String, required: true },
  text: { type: String, required: true },
  is_seen: { type: Boolean, required: true },
  created_at: { type: Date, required: true },
})
schema.index({ host_id: 1, booking_id: 1, created_at: 1, id: 1 }, { name: 'message_order' })
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'message_id' })

export const messageModel = modelOf<Message>('messages', schema)
