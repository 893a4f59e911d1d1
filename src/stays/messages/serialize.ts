import { toTimestamp, toTimestampOrNull } from '../../core/clock.ts'
import { toVersion } from '../../host-clock/format.ts'
import type { SentMessage } from './conversation.ts'
import type { StoredMessage } from './model.ts'
import type { Message, MessageItem } from './schema.ts'

/** Serializes a message as specified in the contract. */
export function serializeMessage(message: StoredMessage): Message {
  const { id, sender, sender_name, text, is_seen, created_at } = message
  return { id, sender, sender_name, text, is_seen, sent_at: toTimestamp(created_at) }
}

/** Serializes a message as an item of the message feed. */
export function serializeMessageItem(message: StoredMessage): MessageItem {
  const { booking_id, listing_id, version, erased_at } = message
  const about = { booking_id, listing_id, version: toVersion(version) }
  return { ...serializeMessage(message), ...about, erased_at: toTimestampOrNull(erased_at) }
}

/** Returns the `meta` fields of the response to a sent message: a duplicate is marked (decisions §10). */
export function metaOfSend({ isDuplicate }: SentMessage): { duplicate?: true } {
  return isDuplicate ? { duplicate: true } : {}
}
