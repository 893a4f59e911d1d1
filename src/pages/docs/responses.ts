import { exampleError, type FailureKind } from './examples.ts'
import type { Json } from './schemas.ts'

const headerSchemas = {
  'X-Request-Id': {
    description: 'Id of this request; the body of a replay has the id of the first request',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'Limit of the key: `q` requests in `w` seconds',
    schema: { type: 'string' },
    example: '"default";q=60;w=60',
  },
  RateLimit: {
    description: 'What remains: `r` requests, and `t` seconds until the window resets',
    schema: { type: 'string' },
    example: '"default";r=59;t=60',
  },
  'Retry-After': {
    description: 'Seconds to wait before the same request is worth sending again',
    schema: { type: 'integer', minimum: 1 },
  },
  ETag: {
    description: 'Changes with the page; send it as `If-None-Match` to be told only of what is new',
    schema: { type: 'string' },
    example: 'W/"dGhlIHRhZyBvZiBhIHBhZ2"',
  },
  'Idempotent-Replayed': {
    description:
      '`true` when this is the stored response of an earlier request with the same `Idempotency-Key`',
    schema: { type: 'string', enum: ['true'] },
  },
} as const

function headersOf(...names: (keyof typeof headerSchemas)[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Every header that responses refer to. */
export const headers = headerSchemas

const always = headersOf('X-Request-Id', 'RateLimit-Policy', 'RateLimit')

/** Properties of a route that add headers to its responses. */
interface Extras {
  isIdempotent: boolean
  isConditional: boolean
}

/** Documents a success response with its schema and, if one was recorded, its example. */
export function documentSuccess(
  schema: Json,
  example: unknown,
  { isIdempotent, isConditional }: Extras,
): Json {
  return {
    description: 'Success',
    headers: {
      ...always,
      ...(isIdempotent ? headersOf('Idempotent-Replayed') : {}),
      ...(isConditional ? headersOf('ETag') : {}),
    },
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  }
}

/** The response to a client that already has the page. */
export const notModified: Json = {
  description: 'The page is the one that `If-None-Match` names',
  headers: { ...always, ...headersOf('ETag') },
}

/** Documents the error responses of several kinds, by status. */
export function documentErrors(kinds: FailureKind[], permission: string): Json {
  const byStatus = Map.groupBy(new Set(kinds), (kind) => exampleError(kind).status)
  return Object.fromEntries(
    [...byStatus].map(([status, sameStatus]) => [status, documentError(status, sameStatus, permission)]),
  )
}

function documentError(status: number, kinds: FailureKind[], permission: string): Json {
  const examples = Object.fromEntries(
    kinds.map((kind) => [kind, { value: exampleError(kind, permission).body }]),
  )
  return {
    description: kinds.map((kind) => kind.replaceAll('_', ' ')).join(', or '),
    headers: errorHeaders(status),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } },
  }
}

/** Returns the headers of an error. An unknown key has no limit, and only some errors are worth a retry. */
function errorHeaders(status: number): Json {
  if (status === 401) return headersOf('X-Request-Id')
  return [409, 429, 500].includes(status) ? { ...always, ...headersOf('Retry-After') } : always
}

/** The error envelope (contract, Errors). */
export const errorSchema: Json = {
  type: 'object',
  description: 'What went wrong',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      description: 'The error',
      required: ['type', 'message', 'errors'],
      properties: {
        type: { type: 'string', description: 'Kind of error, for programs' },
        message: { type: 'string', description: 'What went wrong, for people' },
        request_id: { type: 'string', description: 'Id of the request, for questions to support' },
        errors: {
          type: 'array',
          description: 'One entry for each field that is wrong; may be empty',
          items: { $ref: '#/components/schemas/Problem' },
        },
      },
    },
  },
}

/** One entry of `errors[]`. */
export const problemSchema: Json = {
  type: 'object',
  description: 'One field that is wrong',
  required: ['path', 'code', 'message'],
  properties: {
    path: { type: 'string', description: 'Which field, with dots and indexes: `room_types.0.name`' },
    code: {
      type: 'string',
      description: 'What is wrong, for programs',
      enum: ['required', 'invalid', 'max', 'min', 'unavailable', 'conflict', 'forbidden', 'rate_limited'],
    },
    message: { type: 'string', description: 'What is wrong, for people' },
  },
}
