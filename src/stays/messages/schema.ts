import { type Static, Type } from '@sinclair/typebox'
import { named, requestObject, requiredText, responseObject, shown } from '../../http/schema/fields.ts'

const maxText = 5000

/** Body of `POST /v1/bookings/{booking_id}/messages`. */
export const MessageCreate = named(
  'MessageCreate',
  requestObject({
    message: Type.Object(
      {
        text: requiredText(maxText, {
          trims: true,
          description: 'Text of the message, trimmed; the same text again within a minute is not sent twice',
        }),
      },
      { description: 'The message to the guest' },
    ),
  }),
)

/** A message as the contract specifies it. */
export const Message = named(
  'Message',
  responseObject({
    id: shown.integer('Id of the message', 'id'),
    sender: shown.word('Who sent it', 'guest', 'host'),
    sender_name: shown.text('Name of the sender when it was sent'),
    text: shown.text('Text of the message'),
    is_seen: shown.boolean('Whether the message has been seen; reading it here does not change that'),
  }),
)
export type Message = Static<typeof Message>

/** An item of the message feed: a message with its booking, listing and version. */
export const MessageItem = named(
  'NewMessage',
  responseObject({
    ...Message.properties,
    booking_id: shown.integer('Id of the booking whose conversation it belongs to', 'id'),
    listing_id: shown.integer('Id of the listing of that booking', 'id'),
    sent_at: shown.timestamp('When it was sent'),
    version: shown.text('Version of this message, in UTC; pass the last one as `updated_after`', 'version'),
    erased_at: shown.timestampOrNull('When its text was erased; null for all others'),
  }),
)
export type MessageItem = Static<typeof MessageItem>
