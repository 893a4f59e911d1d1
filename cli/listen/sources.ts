import type { TSchema } from '@sinclair/typebox'
import type { FeedItem } from '../../src/changes/feed/schema.ts'
import type { HintData, WebhookEvent } from '../../src/changes/webhooks/hint.ts'
import type { MessageItem } from '../../src/stays/messages/schema.ts'
import type { PartnerClient } from '../client/client.ts'
import type { Checkpoint } from '../poll/checkpoint.ts'
import { bookingFeed, type Feed, type Item, messageFeed } from '../poll/feeds.ts'

/** An event, and the feed from which its hints are made. */
export interface Source<T extends Item> {
  event: WebhookEvent
  feed: Feed<T>
  dataOf(item: T): HintData
}

export const bookings: Source<FeedItem> = {
  event: 'booking.changed',
  feed: bookingFeed,
  dataOf: ({ booking_id, listing_id, version }) => ({ booking_id, listing_id, version }),
}

export const messages: Source<MessageItem> = {
  event: 'message.created',
  feed: messageFeed,
  dataOf: ({ id, booking_id, listing_id, version }) => ({ booking_id, listing_id, version, message_id: id }),
}

/** Returns the version of a feed's latest change, or undefined if there is none. Any later change is new. */
export async function latestVersion<T extends Item>(
  client: PartnerClient,
  feed: Feed<T>,
): Promise<string | undefined> {
  const read = (page: number) =>
    client.send('GET', feed.path, { query: { per_page: 1, page }, expects: feed.data as TSchema })
  const { meta } = await read(1)
  const last = meta.pagination?.last_page ?? 1
  const { data } = await read(last)
  return feed.itemsOf(data).at(-1)?.version
}

/** Returns a checkpoint that is not stored. If a hint is missed, its change is still in the feed. */
export function fleetingCheckpoint(version: string | undefined): Checkpoint {
  return { version, save() {}, async sync() {}, async close() {} }
}
