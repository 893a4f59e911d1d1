import type { Answer } from './answer.ts'
import { type Result, resultOf } from './result.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** Options of every method. */
export interface CallOptions {
  signal?: AbortSignal | undefined
}

/** Options of methods whose operation takes an `Idempotency-Key`; if none is given, the client generates one. */
export interface WriteOptions extends CallOptions {
  idempotencyKey?: string | undefined
}

export type Id = number | string

/**
 * Encodes a parameter as one path segment.
 *
 * @throws TypeError for anything but a number or a non-empty string, and for `.` and `..`, which would lead to another
 *   route
 */
export function segment(parameter: Id): string {
  const isText = typeof parameter === 'string' && !['', '.', '..'].includes(parameter)
  if (!isText && !Number.isFinite(parameter))
    throw new TypeError('An id or a name in a path must be a number or a text, and neither "." nor ".."')
  return encodeURIComponent(parameter)
}

export const provider = '/integrations/provider_one'

/** Returns the `data` of an answer. */
export const dataOf = ({ data }: Answer) => data

/** Returns a function that sends a request and resolves to the answer's `data`, or to the result of `take`. */
export function callerOf(transport: Transport) {
  return <T>(
    method: string,
    path: string,
    options: RequestOptions = {},
    take: (answer: Answer) => T = dataOf,
  ): Result<T> => resultOf(transport.send(method, path, options), take)
}
