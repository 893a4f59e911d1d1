import type { ErrorKind } from '../../core/errors.ts'
import { type ExampleError, exampleErrors } from './examples.ts'
import type { Json } from './schemas.ts'

/** The definitions of all headers that responses refer to. */
export const headers = {
  'X-Request-Id': {
    description:
      'Id of this request; the body of a replayed response contains the id of the original request',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'Rate limit of the key: `q` requests per `w` seconds',
    schema: { type: 'string' },
    example: '"default";q=60;w=60',
  },
  RateLimit: {
    description: 'Remaining requests (`r`) and seconds until the window resets (`t`)',
    schema: { type: 'string' },
    example: '"default";r=59;t=60',
  },
  'Retry-After': {
    description: 'Number of seconds to wait before retrying the request',
    schema: { type: 'integer', minimum: 1 },
  },
  ETag: {
    description:
      "Identifier of the page's content; send it as `If-None-Match` to receive the page only if it has changed",
    schema: { type: 'string' },
    example: 'W/"dGhlIHRhZyBvZiBhIHBhZ2"',
  },
  'Preference-Applied': {
    description: 'The preference of the request (`Prefer`) that was applied',
    schema: { type: 'string', enum: ['handling=strict', 'peek'] },
  },
  'Sandbox-Fault': {
    description: 'Fault of the sandbox that produced or changed this response; absent if there is none',
    schema: { type: 'string' },
    example: 'slow',
  },
  'Idempotent-Replayed': {
    description:
      '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`',
    schema: { type: 'string', enum: ['true'] },
  },
} as const

function headersOf(...names: (keyof typeof headers)[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const always = headersOf('X-Request-Id', 'RateLimit-Policy', 'RateLimit')

/** Properties of a route that add headers to its successful responses. */
interface SuccessExtras {
  isIdempotent: boolean
  isConditional: boolean
  takesPreference: boolean
  /** The sandbox can inject a fault into the operation's requests. */
  meetsFaults: boolean
}

/** Documents a success response with its schema and its recorded example, if any. */
export function documentSuccess(
  schema: Json,
  example: unknown,
  { isIdempotent, isConditional, takesPreference, meetsFaults }: SuccessExtras,
): Json {
  return {
    description: 'Success',
    headers: {
      ...always,
      ...(isIdempotent ? headersOf('Idempotent-Replayed') : {}),
      ...(isConditional ? headersOf('ETag') : {}),
      ...(takesPreference ? headersOf('Preference-Applied') : {}),
      ...(meetsFaults ? headersOf('Sandbox-Fault') : {}),
    },
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  }
}

/** Documents the 304 response to a client that already has the current page. */
export function notModified(meetsFaults: boolean): Json {
  return {
    description: 'The page still matches `If-None-Match`',
    headers: {
      ...always,
      ...headersOf('ETag'),
      ...(meetsFaults ? headersOf('Sandbox-Fault') : {}),
    },
  }
}

/** Properties of an operation on which its error responses depend. */
interface ErrorExtras {
  /** Method and path below `/v1` or `/sandbox`, such as `POST /users`. */
  operation: string
  permission: string
  takesPreference: boolean
  meetsFaults: boolean
}

/** Documents the error responses for the given kinds, grouped by status. */
export function documentErrors(kinds: ErrorKind[], extras: ErrorExtras): Json {
  const examples = exampleErrors([...new Set(kinds)], extras.operation, extras.permission)
  const byStatus = Map.groupBy(examples, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, sameStatus]) => [status, documentError(status, sameStatus, extras)]),
  )
}

function documentError(status: number, errors: ExampleError[], extras: ErrorExtras): Json {
  const examples = Object.fromEntries(errors.map(({ name, body }) => [name, { value: body }]))
  return {
    description: errors.map(({ name }) => name.replaceAll('_', ' ')).join(', or '),
    headers: errorHeaders(status, extras),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } },
  }
}

/** Returns an error response's headers. An unknown key has no limit, and only some errors are worth retrying. */
function errorHeaders(status: number, { takesPreference, meetsFaults }: ErrorExtras): Json {
  return {
    ...(status === 401 ? headersOf('X-Request-Id') : always),
    ...([409, 429, 500].includes(status) ? headersOf('Retry-After') : {}),
    ...(takesPreference ? headersOf('Preference-Applied') : {}),
    ...(meetsFaults ? headersOf('Sandbox-Fault') : {}),
  }
}

/** The error envelope (contract, Errors). */
export const errorSchema: Json = {
  type: 'object',
  description: 'Error response',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      description: 'Details of the error',
      required: ['type', 'message', 'errors'],
      properties: {
        type: {
          type: 'string',
          description:
            'Machine-readable type of the error; [the guide](/guide/errors) explains each at `/guide/errors#<type>`',
        },
        message: { type: 'string', description: 'Human-readable description of the error' },
        request_id: { type: 'string', description: 'Id of the request, to quote when contacting support' },
        errors: {
          type: 'array',
          description: 'Problems with the request, such as one entry for each invalid field; may be empty',
          items: { $ref: '#/components/schemas/Problem' },
        },
      },
    },
  },
}

/** One entry of `errors[]`. */
export const problemSchema: Json = {
  type: 'object',
  description: 'One problem with the request',
  required: ['path', 'code', 'message'],
  properties: {
    path: {
      type: 'string',
      description: 'Path of the field, with dots and indexes, such as `room_types.0.name`',
    },
    code: {
      type: 'string',
      description: 'Machine-readable code of the problem; later versions of the service may add codes',
      examples: ['required', 'invalid', 'max', 'min', 'unavailable', 'conflict', 'forbidden', 'rate_limited'],
    },
    message: { type: 'string', description: 'Human-readable description of the problem' },
  },
}
