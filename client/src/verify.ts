import type { Schemas } from './call.ts'
import { fromBase64, signedBytes, signingKeyOf, WebhookError } from './secret.ts'

interface BookingHint {
  booking_id: number
  listing_id: number
  version: string
}

/** A finding of `GET /v1/health`, with the id of its alarm. */
type Alarm = Schemas['Finding'] & { alarm_id: number }

/** The event that a hint reports; `unknown` if this version of the client does not know its type. */
export type WebhookEvent =
  | { type: 'booking.changed'; timestamp: string; data: BookingHint }
  | { type: 'message.created'; timestamp: string; data: BookingHint & { message_id: number } }
  | { type: 'alarm.opened'; timestamp: string; data: Alarm }
  | { type: 'alarm.resolved'; timestamp: string; data: Alarm & { resolved_at: string } }
  | { type: 'unknown'; rawType: string; timestamp: string; data: unknown }

type HeadersLike = { get(name: string): string | null } | Record<string, string | string[] | undefined>

export interface VerifyOptions {
  /** Maximum difference between the post's time and `now` in seconds, 300 by default. */
  toleranceSeconds?: number
  now?: Date
}

/** Maximum number of signatures checked per header, so that even a header with thousands of them is cheap to verify. */
const maxSignatures = 10

/**
 * Verifies a hint's signature and time, as Standard Webhooks specifies.
 *
 * @param body the body exactly as it was received, byte for byte
 * @param secrets the webhook's secret, `whsec_…`; both secrets during a rotation
 * @throws WebhookError if the hint cannot be trusted
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeadersLike,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    read(headers, `webhook-${name}`),
  )
  if (!id || !timestamp || !signatures) throw new WebhookError('The webhook headers are missing')
  const seconds = /^\d+$/.test(timestamp) ? Number(timestamp) : Number.NaN
  if (!(Math.abs(now.getTime() / 1000 - seconds) <= toleranceSeconds))
    throw new WebhookError('The time of the webhook is too far from the current time')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = signedBytes(id, timestamp, bytes)
  const sent = signatures
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .slice(0, maxSignatures)
    .map((one) => fromBase64(one.slice(3)))
  for (const secret of [secrets].flat()) {
    const own = new Uint8Array(await crypto.subtle.sign('HMAC', await signingKeyOf(secret), signed))
    if (sent.some((one) => one !== null && isEqual(own, one))) return toEvent(text)
  }
  throw new WebhookError('The signature of the webhook is wrong')
}

function read(headers: HeadersLike, name: string): string | null | undefined {
  if (typeof headers.get === 'function') return headers.get(name)
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return Array.isArray(found) ? found.join(' ') : (found as string | undefined)
}

/** Compares two signatures in constant time. */
function isEqual(own: Uint8Array, sent: Uint8Array): boolean {
  let difference = own.length ^ sent.length
  for (const [index, byte] of own.entries()) difference |= byte ^ (sent[index] ?? 0)
  return difference === 0
}

function toEvent(text: string): WebhookEvent {
  let event: { type?: unknown; timestamp: string; data: never }
  try {
    event = JSON.parse(text)
  } catch {
    throw new WebhookError('The body of the webhook is not JSON')
  }
  const { type, timestamp, data } = event ?? {}
  if (typeof type !== 'string') throw new WebhookError('The body of the webhook has no type')
  if (isKnown(type)) return { type, timestamp, data }
  return { type: 'unknown', rawType: type, timestamp, data }
}

const knownTypes = ['booking.changed', 'message.created', 'alarm.opened', 'alarm.resolved'] as const

function isKnown(type: string): type is (typeof knownTypes)[number] {
  return knownTypes.some((known) => known === type)
}
