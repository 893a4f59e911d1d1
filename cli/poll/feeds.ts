import { type TSchema, Type } from '@sinclair/typebox'
import type { FeedItem } from '../../src/changes/feed/schema.ts'
import { supportedProvider } from '../../src/http/paths.ts'
import type { MessageItem } from '../../src/stays/messages/schema.ts'

/** The item fields that the poll needs. */
export interface Item {
  /** The item's position in the feed. */
  version: string
}

/** A feed that can be polled. */
export interface Feed<T extends Item> {
  name: 'bookings' | 'messages'
  /** Path below the versioned root. */
  path: string
  /** Schema of the parts of `data` that the poll relies on; other fields are passed on unchanged. */
  data: TSchema
  itemsOf(data: unknown): T[]
  /** Columns of a table, with their minimum widths in characters; the last column is not padded. */
  columns: [name: keyof T & string, width: number][]
  /** Returns the environment variables for the command that handles an item. */
  environmentOf(item: T): Record<string, string>
  /** Describes an item for an error message. */
  describe(item: T): string
}

const version = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$' })

export const bookingFeed: Feed<FeedItem> = {
  name: 'bookings',
  path: `/integrations/${supportedProvider}/bookings`,
  data: Type.Object({
    Bookings: Type.Array(Type.Object({ booking_id: Type.Integer(), status: Type.String(), version })),
  }),
  itemsOf: (data) => (data as { Bookings: FeedItem[] }).Bookings,
  columns: [
    ['booking_id', 12],
    ['listing_id', 12],
    ['room_type_id', 12],
    ['status', 10],
    ['checkin_at', 11],
    ['checkout_at', 11],
    ['version', 19],
  ],
  environmentOf: (item) => ({
    PARTNER_BOOKING_ID: String(item.booking_id),
    PARTNER_STATUS: item.status,
    PARTNER_VERSION: item.version,
  }),
  describe: (item) => `booking ${item.booking_id}`,
}

export const messageFeed: Feed<MessageItem> = {
  name: 'messages',
  path: `/integrations/${supportedProvider}/messages`,
  data: Type.Object({
    messages: Type.Array(
      Type.Object({ id: Type.Integer(), booking_id: Type.Integer(), sender: Type.String(), version }),
    ),
  }),
  itemsOf: (data) => (data as { messages: MessageItem[] }).messages,
  columns: [
    ['id', 12],
    ['booking_id', 12],
    ['listing_id', 12],
    ['sender', 6],
    ['sender_name', 24],
    ['version', 19],
    ['text', 0],
  ],
  // The text is passed on standard input only, because environment variables are visible to other processes.
  environmentOf: (item) => ({
    PARTNER_MESSAGE_ID: String(item.id),
    PARTNER_BOOKING_ID: String(item.booking_id),
    PARTNER_SENDER: item.sender,
    PARTNER_VERSION: item.version,
  }),
  describe: (item) => `message ${item.id}`,
}
