import { createHash, randomInt } from 'node:crypto'
import { apiKeyFormat } from '../../http/input/api-key-format.ts'

/**
 * The format of an API key (decisions §3): `pis_`, 32 base62 characters (190 random bits), and a 6-character checksum.
 * The checksum allows a mistyped key to be rejected without a lookup.
 */
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const { prefix, randomLength, checksumLength } = apiKeyFormat
const form = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`)

/** Number of a key's leading characters that are stored as plain text to identify the key. */
export const shownLength = 12

/** Creates a key with a cryptographically secure random number generator. */
export function createApiKey(): string {
  const random = Array.from({ length: randomLength }, () => digits[randomInt(digits.length)]).join('')
  return prefix + random + checksum(random)
}

/** Returns true if a key has the right format and checksum, even if it was never minted. */
export function isWellFormedApiKey(key: string): boolean {
  if (!form.test(key)) return false
  const random = key.slice(prefix.length, -checksumLength)
  return key.endsWith(checksum(random))
}

/**
 * Returns a key's SHA-256 hash as hex. Apart from its first characters, a key is stored only as this hash. A key has
 * too many random bits to be recovered from its hash by guessing.
 */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

function checksum(random: string): string {
  let value = Bun.hash.crc32(random)
  let text = ''
  for (let index = 0; index < checksumLength; index += 1) {
    text = digits[value % digits.length] + text
    value = Math.floor(value / digits.length)
  }
  return text
}
