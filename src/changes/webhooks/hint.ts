/** The events that a hint can tell of. */
export const webhookEvents = ['booking.changed', 'message.created'] as const
export type WebhookEvent = (typeof webhookEvents)[number]

/** Which booking changed, or has a new message; everything else is in the feeds. */
export interface HintData {
  booking_id: number
  listing_id: number
  /** Of the change, or of the message: its position in the feed. */
  version: string
  message_id?: number
}

/** The body of a hint (decisions §21): thin, because a hint is never the truth. */
export interface Hint {
  type: WebhookEvent
  /** Of the change. */
  timestamp: string
  data: HintData
}

/** @param data with a version as the contract writes it, `Y-m-d H:i:s` in UTC */
export function hintOf(type: WebhookEvent, { booking_id, listing_id, version, message_id }: HintData): Hint {
  const data = { booking_id, listing_id, version, ...(message_id === undefined ? {} : { message_id }) }
  return { type, timestamp: `${version.replace(' ', 'T')}Z`, data }
}
