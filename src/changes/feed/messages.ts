import type { Caller } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findBooking } from '../../stays/bookings/store.ts'
import type { StoredMessage } from '../../stays/messages/model.ts'
import type { MessageFilter } from '../../stays/messages/store.ts'
import type { FeedQuery } from '../sources/source.ts'
import { type PositionQuery, walkStart } from './position.ts'

/** The message feed's query parameters for the position and the filters. */
export interface MessageFeedQuery extends PositionQuery {
  booking_id?: string
  sender?: StoredMessage['sender']
}

/**
 * Converts a request's query to a {@link FeedQuery} about a host's messages.
 *
 * @throws DomainError `not_found` if the host has no such booking, or the key has no such consumer
 */
export async function toMessageFeedQuery(
  db: Db,
  caller: Pick<Caller, 'ownerId' | 'keyId'>,
  query: MessageFeedQuery,
): Promise<FeedQuery<MessageFilter>> {
  const { ownerId } = caller
  const { booking_id, sender, cursor } = query
  const updated_after = await walkStart(db, caller, 'messages', query)
  if (booking_id !== undefined) await findBooking(db, ownerId, Number(booking_id))
  const filter = {
    owner_id: ownerId,
    ...(booking_id === undefined ? {} : { booking_id: Number(booking_id) }),
    ...(sender === undefined ? {} : { sender }),
  }
  return {
    filter,
    updated_after,
    cursor,
    identity: ['messages', updated_after, booking_id, sender],
    sent: { booking_id, sender },
  }
}
