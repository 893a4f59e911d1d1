import { type Static, Type } from '@sinclair/typebox'
import { requestObject, requiredText, responseObject } from '../schema/fields.ts'

const longestText = 5000

/** Body of `POST /v1/bookings/{booking_id}/messages`. */
export const MessageCreate = requestObject({
  message: Type.Object({ text: requiredText(longestText, { trims: true }) }),
})

/** A message as the contract writes it. */
export const Message = responseObject({
  id: Type.Integer(),
  sender: Type.String(),
  sender_name: Type.String(),
  text: Type.String(),
  is_seen: Type.Boolean(),
})
export type Message = Static<typeof Message>
