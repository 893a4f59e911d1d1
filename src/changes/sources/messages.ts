import type { StoredMessage } from '../../stays/messages/model.ts'
import {
  countNewMessages,
  findMessageVersionFromEnd,
  findNewMessages,
  type MessageFilter,
} from '../../stays/messages/store.ts'
import type { FeedSource } from './source.ts'

/** The messages of all of a host's bookings. */
export const messageFeed: FeedSource<StoredMessage, MessageFilter> = {
  name: 'messages',
  counter: 'messages_last',
  find: findNewMessages,
  count: countNewMessages,
  versionFromEnd: findMessageVersionFromEnd,
  versionOf: ({ version }) => version,
}
