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
          description:
            'Text of the message, trimmed; the same text sent again within a minute is not delivered twice',
        }),
      },
      { description: 'Message to the guest' },
    ),
  }),
)

/** A message as the contract specifies it. */
export const Message = named(
  'Message',
  responseObject({
    id: shown.integer('Id of the message', 'id'),
    sender: shown.word('Side that sent the message', 'guest', 'host'),
    sender_name: shown.text('Name of the sender at the time of sending'),
    text: shown.text('Text of the message'),
    is_seen: shown.boolean(
      'Whether the message has been seen; reading it through this API does not mark it as seen',
    ),
    sent_at: shown.timestamp('Time at which the message was sent'),
  }),
)
export type Message = Static<typeof Message>

/** An item of the message feed: a message with its booking, listing and version. */
export const MessageItem = named(
  'NewMessage',
  responseObject({
    ...Message.properties,
    booking_id: shown.integer('Id of the booking that the message belongs to', 'id'),
    listing_id: shown.integer("Id of the booking's listing", 'id'),
    version: shown.text(
      'Version of this message, in UTC; pass the last version received as `updated_after`',
      'version',
    ),
    erased_at: shown.timestampOrNull('Time at which the text was erased; null if it has not been erased'),
  }),
)
export type MessageItem = Static<typeof MessageItem>
