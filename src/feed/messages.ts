import { findBooking } from '../bookings/store.ts'
import type { StoredMessage } from '../messages/model.ts'
import { countNewMessages, findNewMessages, type MessageFilter } from '../messages/store.ts'
import { ensureMessageVersions } from '../messages/upgrade.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { FeedQuestion, FeedSource } from './source.ts'

/** The messages of all bookings of a host. */
export const messageFeed: FeedSource<StoredMessage, MessageFilter> = {
  name: 'messages',
  counter: 'messages_last',
  find: findNewMessages,
  count: countNewMessages,
  versionOf: ({ version }) => version,
}

/** The query of the message feed, apart from the page. */
export interface MessageFeedQuery {
  updated_after?: string
  booking_id?: string
  sender?: StoredMessage['sender']
  cursor?: string
}

/**
 * A query as a question about a host's messages.
 *
 * @throws DomainError `not_found` for a booking that is not the host's
 */
export async function askForMessages(
  db: Db,
  hostId: number,
  { updated_after, booking_id, sender, cursor }: MessageFeedQuery,
): Promise<FeedQuestion<MessageFilter>> {
  await ensureMessageVersions(db, hostId)
  if (booking_id !== undefined) await findBooking(db, hostId, Number(booking_id))
  const filter = {
    host_id: hostId,
    ...(booking_id === undefined ? {} : { booking_id: Number(booking_id) }),
    ...(sender === undefined ? {} : { sender }),
  }
  return { filter, updated_after, cursor, identity: ['messages', updated_after, booking_id, sender] }
}
