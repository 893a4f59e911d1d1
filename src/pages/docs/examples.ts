import requests from '../../../fixtures/examples/requests.json' with { type: 'json' }
import responses from '../../../fixtures/examples/responses.json' with { type: 'json' }
import { usedByAnother } from '../../access/provider-keys/store.ts'
import { DomainError, type ErrorKind, invalidField, notFound, rateLimited } from '../../core/errors.ts'
import { describeError, unexpected } from '../../http/answer/error-response.ts'
import { missingPermission } from '../../http/permissions.ts'
import { invalidRoomTypes } from '../../inventory/availability/availability-write.ts'
import { inactiveMatch } from '../../inventory/listings/listing-write.ts'
import { foreignListings, unknownRoomType } from '../../inventory/listings/problems.ts'

/** Example request bodies and responses by operation, such as `POST /users`; the tests check every example. */
export const exampleRequests: Record<string, unknown> = requests
export const exampleResponses: Record<string, { status: number; body: unknown }> = responses

const tooLarge = 'The body must be at most 1048576 bytes'
const tooSlow = 'The body did not arrive within 30 s'

/** One error of each kind, with the problems that the service sends. */
const commonErrors: Record<ErrorKind, DomainError> = {
  validation: invalidField('email', '"email" must be an e-mail address'),
  invalid_ids: new DomainError('invalid_ids', 'Invalid room types', [unknownRoomType(0)]),
  body_too_large: new DomainError('body_too_large', tooLarge, [
    { path: 'body', code: 'max', message: tooLarge },
  ]),
  body_too_slow: new DomainError('body_too_slow', tooSlow, [
    { path: 'body', code: 'invalid', message: tooSlow },
  ]),
  auth: new DomainError('auth', 'API key is required'),
  forbidden: new DomainError('forbidden', 'The API key is not accepted from this address', [
    { path: 'client_address', code: 'forbidden', message: '198.51.100.7' },
  ]),
  not_found: notFound('Listing'),
  unsupported_provider: new DomainError(
    'unsupported_provider',
    'Unsupported provider; the only supported one is "provider_one"',
  ),
  conflict: new DomainError('conflict', 'Concurrent requests kept this one from finishing; try again'),
  listing_conflict: inactiveMatch(
    { id: 2002 },
    { method: 'original_id', confidence: { level: 'high', score: 1 } },
  ),
  idempotency_mismatch: new DomainError(
    'idempotency_mismatch',
    'This "Idempotency-Key" was used with another body; use a new key',
  ),
  rate_limit: rateLimited(12_000),
  internal: unexpected,
}

/** Errors that only some operations return, by operation and by the name of the example. */
const ownErrors: Record<string, Record<string, DomainError>> = {
  'POST /integrations/{provider}/availability': {
    forbidden_listings: foreignListings([{ path: 'unauthorized_listing_ids.0', message: '2001' }]),
    invalid_ids: invalidRoomTypes([{ index: 0, listing_id: 2001, room_type_id: 3003 }]),
  },
  'POST /integrations/{provider}/rates': { forbidden_listings: foreignListings([]) },
  'POST /integrations/{provider}/provider-key': { conflict_provider_key: usedByAnother() },
}

/** An example of an error response: its name in the document, its status and its body. */
export interface ExampleError {
  name: string
  status: number
  body: object
}

/**
 * Returns examples of the errors of the given kinds, built by the same mapping as real error responses.
 *
 * @param operation method and path of the operation, such as `POST /users`
 * @param permission permission that the operation requires, or `any`
 */
export function exampleErrors(kinds: ErrorKind[], operation: string, permission: string): ExampleError[] {
  const common = Object.fromEntries(kinds.map((kind) => [kind, commonErrors[kind]]))
  if (common.forbidden && permission !== 'any') common.forbidden = missingPermission(permission)
  const errors = { ...common, ...ownErrors[operation] }
  return Object.entries(errors).map(([name, error]) => toExample(name, error))
}

function toExample(name: string, error: DomainError): ExampleError {
  const { status, type, message, errors } = describeError(error)
  const request_id = '3b0f8a52-6f0e-4b0a-9d55-2f6f3c1d7c11'
  return { name, status, body: { error: { type, message, request_id, errors } } }
}

/** Example ids and names that work in a fresh sandbox, by the path segment before them. */
export const sandboxIds: Record<string, number | string> = {
  users: 1001,
  listings: 2001,
  bookings: 5002,
  jobs: 6001,
  calendars: 4001,
  consumers: 'booking-sync',
  scenarios: 'guest-books',
}

/** Example ids of resources that a partner creates, by the path segment before them. */
export const exampleIds: Record<string, number | string> = {
  webhooks: 10_001,
  certifications: 10_001,
  deliveries: 'msg_6927d0f4c8a1b2e3d4f50617',
}
