import { type Static, Type } from '@sinclair/typebox'
import { answerObject, requestObject, requiredText } from '../http/types.ts'

/** Body of `POST /v1/bookings/{booking_id}/messages`; the length counts after trimming, see `store.ts`. */
export const MessageCreate = requestObject({
  message: Type.Object({ text: requiredText(1_000_000, { description: '1 to 5,000 characters' }) }),
})

/** A message as the contract writes it. */
export const Message = answerObject({
  id: Type.Integer(),
  sender: Type.String(),
  sender_name: Type.String(),
  text: Type.String(),
  is_seen: Type.Boolean(),
})
export type Message = Static<typeof Message>
