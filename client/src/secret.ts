/** Error thrown if a post is not a hint from the service, or cannot be trusted. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** @throws WebhookError unless the secret is `whsec_` followed by base64 */
export async function signingKeyOf(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''))
  if (!bytes?.length) throw new WebhookError('A webhook secret must be "whsec_" followed by base64')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
}

/** Returns the bytes that a hint's signature covers. */
export function signedBytes(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const joined = new Uint8Array(head.length + body.length)
  joined.set(head)
  joined.set(body, head.length)
  return joined
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return null
  }
}
