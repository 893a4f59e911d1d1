import { createHash } from 'node:crypto'

/**
 * Represents a long string in an index: the oldest supported server refuses documents with an index key of more than
 * 1,024 bytes, and 255 characters of four bytes come close. Equal for equal strings, 43 characters long; null for none.
 */
export function indexKey(text: string | null | undefined): string | null {
  return text ? createHash('sha256').update(text).digest('base64url') : null
}

/** The longest prefix of a string that fits into an index key. */
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

/** Of 1,024 bytes, what a host id, a status, a time, an id and the key's own overhead leave. */
const maxIndexedBytes = 900
