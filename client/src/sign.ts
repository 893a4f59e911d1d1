import { signedBytes, signingKeyOf } from './secret.ts'

/** A hint to sign. */
export interface WebhookMessage {
  /** The delivery's id, which is the same for all attempts. */
  id: string
  /** Time of this attempt. */
  at: Date
  /** The body exactly as it is sent. */
  body: string
}

/**
 * Returns the headers with which the service would send a hint, so that you can test your receiver.
 *
 * @param secret the webhook's secret, `whsec_…`
 * @throws WebhookError if the secret is malformed
 */
export async function signWebhook(
  { id, at, body }: WebhookMessage,
  secret: string,
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signed = signedBytes(id, timestamp, new TextEncoder().encode(body))
  const signature = await crypto.subtle.sign('HMAC', await signingKeyOf(secret), signed)
  const base64 = btoa(String.fromCharCode(...new Uint8Array(signature)))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${base64}` }
}
