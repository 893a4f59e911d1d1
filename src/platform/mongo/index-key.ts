import { createHash } from 'node:crypto'

/**
 * What stands for a long string in an index: the oldest supported server refuses a document with an index key of
 * over 1,024 bytes, and 255 characters of four bytes each come close. Equal for equal strings, 43 characters long;
 * null where there is none.
 */
export function indexKey(text: string | null | undefined): string | null {
  return text ? createHash('sha256').update(text).digest('base64url') : null
}

/** The longest beginning of a string that takes no more bytes than an index key has room for. */
export function indexPrefix(text: string): string {
  if (text.length * 3 <= longestIndexedBytes) return text
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > longestIndexedBytes) break
    end += character.length
  }
  return text.slice(0, end)
}

/** Of 1,024 bytes: what a host id, a status, a time, an id and the frame of the key leave. */
const longestIndexedBytes = 900
