import { createHmac, randomBytes } from 'node:crypto'

/** Prefix of every webhook secret. */
const prefix = 'whsec_'
/** Length of new secrets in bytes. Standard Webhooks allows 24 to 64. */
const secretBytes = 32

/** Returns a new secret: `whsec_` followed by 32 random bytes in base64. */
export function makeWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64')
}

/** A message to sign. */
export interface SignedMessage {
  /** The delivery's id, which is the same for all attempts. */
  id: string
  /** Time of this attempt. */
  at: Date
  body: string
}

/**
 * Returns a hint's id, time and signature headers as Standard Webhooks specifies them (decisions §21), so that partners
 * can verify the hint with the standard's libraries.
 *
 * @param secrets one secret, or two during a rotation
 */
export function signatureHeaders({ id, at, body }: SignedMessage, secrets: string[]): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const hash = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`)
    return `v1,${hash.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64')
}
