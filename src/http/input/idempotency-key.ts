import { type DomainError, invalidField } from '../../core/errors.ts'
import { repeatedValues } from './repeated-headers.ts'

/** Maximum length of an `Idempotency-Key` in characters. */
export const idempotencyKeyLength = 255

/**
 * Returns a request's `Idempotency-Key`, or undefined if it has none. The header may be sent several times with equal
 * keys.
 *
 * @throws DomainError `validation` if the key is too long, blank or not printable ASCII, or if several different keys
 * were sent (decisions §11)
 */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const keys = new Set(repeatedValues(headers, 'idempotency-key').map(unquote))
  const [key] = keys
  if (keys.size > 1)
    throw invalidKey('must be sent only once, and must not contain a comma followed by a space')
  return key === undefined ? undefined : requireKeyForm(key)
}

/**
 * Returns the key inside the quotes of the form that the IETF draft prescribes (a string of RFC 8941), and any other
 * value as it is.
 *
 * @throws DomainError `validation` if the value begins with a quote but is not exactly one quoted string
 */
function unquote(value: string): string {
  if (!value.startsWith('"')) return value
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value) ?? []
  if (quoted === undefined)
    throw invalidKey(
      'must be exactly one quoted string without a comma followed by a space if it begins with a quote',
    )
  return quoted.replaceAll(/\\(.)/g, '$1')
}

function requireKeyForm(key: string): string {
  if (key.length > idempotencyKeyLength) {
    const message = `"Idempotency-Key" must be at most ${idempotencyKeyLength} characters`
    throw invalidField('Idempotency-Key', message, 'max')
  }
  if (!/^[\x20-\x7e]+$/.test(key) || key.trim() === '')
    throw invalidKey('must be printable ASCII and not blank')
  return key
}

function invalidKey(demand: string): DomainError {
  return invalidField('Idempotency-Key', `"Idempotency-Key" ${demand}`)
}
