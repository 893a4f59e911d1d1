import requests from '../../../fixtures/examples/requests.json' with { type: 'json' }
import responses from '../../../fixtures/examples/responses.json' with { type: 'json' }
import { DomainError, type ErrorKind, invalidField } from '../../core/errors.ts'
import { describeError, unexpected } from '../../http/error-response.ts'

/** Example request bodies and responses by operation, such as `POST /users`; the tests check every example. */
export const exampleRequests: Record<string, unknown> = requests
export const exampleResponses: Record<string, { status: number; body: unknown }> = responses

const problems: Partial<Record<ErrorKind, DomainError>> = {
  validation: invalidField('email', '"email" must be an e-mail address'),
  rate_limit: new DomainError('rate_limit', 'Too many requests; try again in 12 s', [
    { path: 'retry_after', code: 'rate_limited', message: '12' },
  ]),
}

const messages: Record<ErrorKind, string> = {
  validation: 'The request is not valid',
  invalid_ids: 'Invalid room types',
  body_too_large: 'The body must be at most 1048576 bytes',
  body_too_slow: 'The body did not arrive within 30 s',
  auth: 'API key is required',
  forbidden: 'Unauthorized access to listings',
  not_found: 'Listing not found or unauthorized',
  unsupported_provider: 'Unsupported provider; the only supported one is "provider_one"',
  conflict: 'Another request is changing the same data; try again',
  listing_conflict: 'The listing matches an inactive listing',
  idempotency_mismatch: 'This "Idempotency-Key" was used with another body; use a new one',
  rate_limit: 'Too many requests',
  internal: unexpected.message,
}

/** Returns the status and an example body for a kind of error, built by the same mapping as real error responses. */
export function exampleError(kind: ErrorKind, permission?: string): { status: number; body: object } {
  const { status, type, message, errors } = describeError(errorOf(kind, permission))
  return {
    status,
    body: { error: { type, message, request_id: '3b0f8a52-6f0e-4b0a-9d55-2f6f3c1d7c11', errors } },
  }
}

function errorOf(kind: ErrorKind, permission: string | undefined): DomainError {
  if (kind !== 'forbidden' || permission === undefined)
    return problems[kind] ?? new DomainError(kind, messages[kind])
  if (permission === 'any')
    return new DomainError(kind, 'The API key is not accepted from this address', [
      { path: 'client_address', code: 'forbidden', message: '198.51.100.7' },
    ])
  return new DomainError(kind, `The API key lacks the required permission "${permission}"`, [
    { path: 'required_permission', code: 'forbidden', message: permission },
  ])
}

/** Example ids and names that work in a fresh sandbox, by the path segment before them. */
export const sandboxIds: Record<string, number | string> = {
  users: 1001,
  listings: 2001,
  bookings: 5002,
  jobs: 6001,
  consumers: 'booking-sync',
  scenarios: 'guest-books',
}

/** Example ids of resources that a partner creates, by the path segment before them. */
export const exampleIds: Record<string, number | string> = {
  webhooks: 10_001,
  certifications: 10_001,
  deliveries: 'msg_6927d0f4c8a1b2e3d4f50617',
}
