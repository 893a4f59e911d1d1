import { createHmac, randomBytes } from 'node:crypto'

/** The prefix of every secret of a webhook. */
const prefix = 'whsec_'
/** Standard Webhooks: a secret has from 24 to 64 bytes; ours have 32. */
const secretBytes = { made: 32, minimum: 24, maximum: 64 } as const

/** A new secret: `whsec_` and 32 random bytes, base64. */
export function makeWebhookSecret(): string {
  return prefix + randomBytes(secretBytes.made).toString('base64')
}

/** True for `whsec_` and 24 to 64 bytes, base64. */
export function isWebhookSecret(text: string): boolean {
  const encoded = text.slice(prefix.length)
  const { length } = keyOf(text)
  const isWellFormed = text.startsWith(prefix) && /^[A-Za-z0-9+/]+={0,2}$/.test(encoded)
  return isWellFormed && length >= secretBytes.minimum && length <= secretBytes.maximum
}

/** A hint on its way. */
export interface SignedMessage {
  /** The same through all tries. */
  id: string
  /** When this try is made. */
  at: Date
  body: string
}

/**
 * The headers of a hint, named and signed as Standard Webhooks say (decisions §21), so that its libraries verify them.
 *
 * @param secrets while one is being rotated, both
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
