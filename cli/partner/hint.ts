import { randomBytes } from 'node:crypto'

/**
 * Hints as the service sends them (decisions §21). `listen` sends the same, so that a product can be tried before it
 * has an address on the internet.
 */

/** The events that hints can announce. */
export const hintEvents = ['booking.changed', 'message.created'] as const
export type HintEvent = (typeof hintEvents)[number]

/** A hint's data: the booking that changed or has a new message. */
export interface HintData {
  booking_id: number
  listing_id: number
  /** Version of the change or message, which is its position in the feed. */
  version: string
  message_id?: number
}

/** Returns the body of a hint. */
export function hintBody(type: HintEvent, { booking_id, listing_id, version, message_id }: HintData): string {
  const timestamp = `${version.replace(' ', 'T')}.000000Z`
  // JSON leaves out a message id that is undefined.
  return JSON.stringify({ type, timestamp, data: { booking_id, listing_id, version, message_id } })
}

/** Prefix of every webhook secret. */
const prefix = 'whsec_'
/** Secret lengths in bytes. Standard Webhooks allows 24 to 64; secrets generated here have 32. */
const secretBytes = { made: 32, minimum: 24, maximum: 64 } as const

/** Returns a new secret: `whsec_` followed by 32 random bytes in base64. */
export function makeWebhookSecret(): string {
  return prefix + randomBytes(secretBytes.made).toString('base64')
}

/** Returns true for `whsec_` followed by 24 to 64 bytes in base64. */
export function isWebhookSecret(text: string): boolean {
  const encoded = text.slice(prefix.length)
  const { length } = Buffer.from(encoded, 'base64')
  const isWellFormed = text.startsWith(prefix) && /^[A-Za-z0-9+/]+={0,2}$/.test(encoded)
  return isWellFormed && length >= secretBytes.minimum && length <= secretBytes.maximum
}
