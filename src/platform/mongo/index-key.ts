import { canonicalEmail } from '../../core/email.ts'

/**
 * Returns a 43-character hash that represents a long string in an index; null for an empty or missing string. The
 * oldest supported server refuses documents with an index key of more than 1,024 bytes, and 255 four-byte characters
 * alone take 1,020 bytes.
 */
export function indexKey(text: string | null | undefined): string | null {
  return text ? new Bun.CryptoHasher('sha256').update(text).digest('base64url') : null
}

/**
 * Returns the hash by which an e-mail address is found and kept unique. It is the same for all spellings of an address,
 * and empty for a text that is not an e-mail address.
 */
export function emailKey(address: string): string {
  return indexKey(canonicalEmail(address)) ?? ''
}

/** Returns the longest prefix of a string that fits into an index key. */
export function indexPrefix(text: string): string {
  if (text.length * 3 <= maxIndexedBytes) return text
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > maxIndexedBytes) break
    end += character.length
  }
  return text.slice(0, end)
}

/** Bytes left for text in a 1,024-byte index key, after a host id, a status, a time, an id and the key's overhead. */
const maxIndexedBytes = 900
