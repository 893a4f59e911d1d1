import type { Answer } from './answer.ts'
import type { components, operations } from './api.ts'
import { ArgumentError } from './errors.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** Options that every method takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined
}

/** Options for methods whose operation takes an `Idempotency-Key`. If no key is given, the client generates one. */
export interface WriteOptions extends CallOptions {
  idempotencyKey?: string | undefined
}

export type Id = number | string

/**
 * Encodes a parameter as one path segment.
 *
 * @throws ArgumentError for anything but a number or a non-empty string, and for `.` and `..`, which would lead to
 *   another route
 */
export function segment(parameter: Id): string {
  const isText = typeof parameter === 'string' && !['', '.', '..'].includes(parameter)
  if (!isText && !Number.isFinite(parameter))
    throw new ArgumentError(
      'An id or a name in a path must be a number or a non-empty string other than "." and ".."',
    )
  return encodeURIComponent(parameter)
}

export const provider = '/integrations/provider_one'

/** Returns the `data` of a response. */
export const dataOf = ({ data }: Answer) => data

/** Returns the message of the response to a send, and whether it was sent before. */
export function sent({ data, meta }: Answer): SentMessage {
  return { ...data.message, duplicate: meta.duplicate === true }
}

/** Returns a function that sends a request and resolves to the response's `data`, or to the result of `take`. */
export function callerOf(transport: Transport) {
  return <T>(
    method: string,
    path: string,
    options: RequestOptions = {},
    take: (answer: Answer) => T = dataOf,
  ): Result<T> => resultOf(transport.send(method, path, options), take)
}

/** A promise of a response's `data`; `withResponse()` resolves to the whole {@link Answer}. */
export interface Result<T> extends Promise<T> {
  withResponse(): Promise<Answer<T>>
}

/** @param take extracts the result from a response */
export function resultOf<T>(sent: Promise<Answer>, take: (answer: Answer) => T): Result<T> {
  const whole = sent.then((answer) => ({ ...answer, data: take(answer) }))
  const result = whole.then(({ data }) => data)
  const withResponse = () => {
    // The caller handles the failure of `whole`, so `result` must not report it again as unhandled.
    result.catch(() => {})
    return whole
  }
  return Object.assign(result, { withResponse })
}

/** A list that resolves to its first page if awaited, and yields the items of all pages in a `for await` loop. */
export interface List<T> extends PromiseLike<T[]>, AsyncIterable<T> {
  withResponse(): Promise<Answer<T[]>>
}

type PageQuery = Record<string, string | number>

/** @param ask requests a page; not called until the list is awaited or looped over */
export function listOf<T>(ask: (query: PageQuery) => Promise<Answer<T[]>>): List<T> {
  return {
    // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page
    then: (resolve, reject) =>
      ask({})
        .then(({ data }) => data)
        .then(resolve, reject),
    withResponse: () => ask({}),
    async *[Symbol.asyncIterator]() {
      for (let query: PageQuery | null = {}; query !== null; ) {
        const { data, meta }: Answer<T[]> = await ask(query)
        yield* data
        query = nextOf(meta.pagination)
      }
    },
  }
}

interface Paging {
  next_cursor?: string | null
  current_page: number
  last_page: number
}

function nextOf(paging: Paging | undefined): PageQuery | null {
  if (paging === undefined) return null
  if (paging.next_cursor !== undefined)
    return paging.next_cursor === null ? null : { cursor: paging.next_cursor }
  return paging.current_page < paging.last_page ? { page: paging.current_page + 1 } : null
}

/** The schemas of the OpenAPI document by name, such as `Schemas['Booking']`. */
export type Schemas = components['schemas']

/** A message that was sent; with `duplicate`, the first message, because the conversation already ended with it. */
export type SentMessage = Schemas['Message'] & { duplicate: boolean }

type Operation = keyof operations
type Content<R> = R extends { content: { 'application/json': infer C } } ? C : never
/** The envelope of an operation's successful response. */
type Success<O extends Operation> = operations[O]['responses'] extends infer R ? Content<R[keyof R]> : never
/** The `data` of an operation's successful response. */
export type Data<O extends Operation> = Success<O> extends { data: infer D } ? D : never
/** The `meta` of an operation's successful response. */
export type Meta<O extends Operation> = Success<O> extends { meta: infer M } ? M : never
/** The request body of an operation. */
export type Body<O extends Operation> = operations[O] extends { requestBody?: infer B }
  ? Content<NonNullable<B>>
  : never
/** The query parameters of an operation; ids may be numbers. */
export type Query<O extends Operation> = WithIds<
  NonNullable<operations[O]['parameters'] extends { query?: infer Q } ? Q : never>
>
type WithIds<Q> = {
  [Name in keyof Q]: (Name extends `${string}_id` ? Q[Name] | number : Q[Name]) | undefined
}
