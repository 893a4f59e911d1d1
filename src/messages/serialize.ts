import type { StoredMessage } from './model.ts'
import type { Message } from './schema.ts'

/** A message as the contract writes it. */
export function serializeMessage({ id, sender, sender_name, text, is_seen }: StoredMessage): Message {
  return { id, sender, sender_name, text, is_seen }
}
