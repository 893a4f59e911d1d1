import { createHash, randomInt } from 'node:crypto'
import { apiKeyFormat } from '../../http/paths.ts'

/**
 * The form of an API key (decisions §3): `pis_`, 32 base62 characters (190 random bits), and a checksum of
 * 6 characters, so that a mistyped key is refused without a look-up.
 */
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const { prefix, randomLength, checksumLength } = apiKeyFormat
const form = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`)

/** Number of leading characters of a key that are stored to identify it. */
export const shownLength = 12

/** Creates a key with the system's random number generator. */
export function createApiKey(): string {
  const random = Array.from({ length: randomLength }, () => digits[randomInt(digits.length)]).join('')
  return prefix + random + checksum(random)
}

/** Returns true if a key has the right form and checksum, even if it was never minted. */
export function isWellFormedApiKey(key: string): boolean {
  if (!form.test(key)) return false
  const random = key.slice(prefix.length, -checksumLength)
  return key.endsWith(checksum(random))
}

/**
 * Returns a key's SHA-256 as hex, the only form in which a key is stored. A key has too many random bits to be guessed
 * from its hash.
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
