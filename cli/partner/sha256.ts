/** Returns the SHA-256 of a text as hexadecimal digits. */
export async function sha256(text: string): Promise<string> {
  // The runtime's own digest, because `node:crypto` takes longer to load than the rest of a poll takes.
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(digest).toString('hex')
}
