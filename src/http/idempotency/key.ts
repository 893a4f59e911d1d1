import { invalidField } from '../../core/errors.ts'

/** The most characters an `Idempotency-Key` may have. */
export const idempotencyKeyLength = 255

/**
 * The `Idempotency-Key` of a request, or undefined when it has none.
 *
 * @throws DomainError `validation` for one that is too long, blank or not printable ASCII (decisions §11)
 */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (key.length > idempotencyKeyLength) {
    const message = `"Idempotency-Key" must be at most ${idempotencyKeyLength} characters`
    throw invalidField('Idempotency-Key', message, 'max')
  }
  if (!/^[\x20-\x7e]+$/.test(key) || key.trim() === '') {
    throw invalidField('Idempotency-Key', '"Idempotency-Key" must be printable ASCII and not blank')
  }
  return key
}
