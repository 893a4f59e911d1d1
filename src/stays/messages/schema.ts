import { type Static, Type } from '@sinclair/typebox'
import { Envelope } from '../../http/answer/envelope.ts'
import {
  output,
  requestObject,
  requiredText,
  responseObject,
  withTitle,
} from '../../http/input/schema/fields.ts'

const maxText = 5000

/** Body of `POST /v1/bookings/{booking_id}/messages`. */
export const MessageCreate = withTitle(
  'MessageCreate',
  requestObject({
    message: Type.Object(
      {
        text: requiredText(maxText, {
          trims: true,
          description:
            'Text of the message, trimmed; sent again within a minute, while it is the last message of the conversation, it is not delivered twice',
        }),
      },
      { description: 'Message to the guest' },
    ),
  }),
)

/** A message, as specified in the contract. */
export const Message = withTitle(
  'Message',
  responseObject({
    id: output.integer('Id of the message', 'id'),
    sender: output.literal('Side that sent the message', 'guest', 'host'),
    sender_name: output.text('Name of the sender at the time of sending'),
    text: output.text('Text of the message'),
    is_seen: output.boolean(
      'Whether the message has been seen; reading it through this API does not mark it as seen',
    ),
    sent_at: output.timestamp('Time at which the message was sent'),
  }),
)
export type Message = Static<typeof Message>

/** Response of a send: the message as stored, or the first message if it was a duplicate. */
export const MessageSent = Envelope(
  responseObject({ message: Message }, 'Message as stored; of a duplicate, the first message'),
  {
    duplicate: Type.Optional(
      Type.Literal(true, {
        description:
          'True if the conversation already ended with this message, so that nothing was stored; otherwise absent',
      }),
    ),
  },
)

/** An item of the message feed: a message with its booking, listing and version. */
export const MessageItem = withTitle(
  'NewMessage',
  responseObject({
    ...Message.properties,
    booking_id: output.integer('Id of the booking that the message belongs to', 'id'),
    listing_id: output.integer("Id of the booking's listing", 'id'),
    version: output.text(
      'Version of this message, in UTC; pass the last version received as `updated_after`',
      'version',
    ),
    erased_at: output.timestampOrNull('Time at which the text was erased; null if it has not been erased'),
  }),
)
export type MessageItem = Static<typeof MessageItem>
