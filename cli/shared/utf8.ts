import { UsageError } from './errors.ts'

/**
 * Decodes the bytes of a file or of standard input, without a byte order mark. Every text that a command reads goes
 * through here, except calendar files: a lenient decoder would put U+FFFD in the place of what it cannot read, and store
 * it as a guest's name.
 *
 * @param source what the bytes come from, as a sentence begins with it
 * @throws UsageError that names the encoding that the text seems to have
 */
export function decodeText(bytes: Uint8Array, source: string): string {
  const encoding = guessEncoding(bytes)
  if (encoding !== null) throw notUtf8(source, encoding)
  return new TextDecoder().decode(bytes)
}

/**
 * Decodes a text in which only the ASCII part matters, such as a calendar file. Other bytes may be anything, because some
 * senders fold lines within a character, which is not UTF-8 then.
 *
 * @param source what the bytes come from, as a sentence begins with it
 * @throws UsageError for UTF-16
 */
export function decodeAscii(bytes: Uint8Array, source: string): string {
  if (isUtf16(bytes)) throw notUtf8(source, 'UTF-16')
  return new TextDecoder().decode(bytes)
}

function notUtf8(source: string, encoding: string): UsageError {
  return new UsageError(`${source} is not UTF-8, but looks like ${encoding}; save it as UTF-8`)
}

/** Returns the encoding that a text seems to have; null for UTF-8. */
function guessEncoding(bytes: Uint8Array): string | null {
  if (isUtf16(bytes)) return 'UTF-16'
  if (isUtf8(bytes)) return null
  return bytes.some((byte) => isControl(byte)) ? 'binary data' : 'Latin-1 or Windows-1252'
}

function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  // Text in Latin letters without a mark has a zero in every other byte, so it would also be valid UTF-8.
  return hasMark || isEveryOtherZero(bytes)
}

/** Minimum share of zeros among the bytes of UTF-16 text that is mostly in Latin letters. */
const zeroShare = 0.25

function isEveryOtherZero(bytes: Uint8Array): boolean {
  const zeros = [0, 0]
  for (const [at, byte] of bytes.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] as number) + 1
  const [even = 0, odd = 0] = zeros
  const count = even + odd
  return count > 0 && Math.min(even, odd) === 0 && count >= bytes.length * zeroShare
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** True for a control character other than a tab or a line's end. */
function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d
}
