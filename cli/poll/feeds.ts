import { type TSchema, Type } from '@sinclair/typebox'
import type { FeedItem } from '../../src/changes/feed/schema.ts'
import { supportedProvider } from '../../src/http/paths.ts'
import type { MessageItem } from '../../src/stays/messages/schema.ts'

/** The parts of an item that the poll needs. */
export interface Item {
  /** Its position in the feed. */
  version: string
}

/** A feed that can be polled. */
export interface Feed<T extends Item> {
  name: 'bookings' | 'messages'
  /** Below the versioned root. */
  path: string
  /** The parts of `data` that the poll relies on; whatever else a later version sends is passed on as it is. */
  data: TSchema
  itemsOf(data: unknown): T[]
  /** Columns of a table, with their widths; the last one is as wide as it is. */
  columns: [name: keyof T & string, width: number][]
  /** The environment of a handler. */
  environmentOf(item: T): Record<string, string>
  /** An item in an error message. */
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
  // The text is on standard input only: an environment is visible to other processes.
  environmentOf: (item) => ({
    PARTNER_MESSAGE_ID: String(item.id),
    PARTNER_BOOKING_ID: String(item.booking_id),
    PARTNER_SENDER: item.sender,
    PARTNER_VERSION: item.version,
  }),
  describe: (item) => `message ${item.id}`,
}
