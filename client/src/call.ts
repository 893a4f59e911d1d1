import type { Answer } from './answer.ts'
import { type Result, resultOf } from './result.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** What every method takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined
}

/** What the methods take whose operation has an `Idempotency-Key`; without one the client makes its own. */
export interface WriteOptions extends CallOptions {
  idempotencyKey?: string | undefined
}

export type Id = number | string

/**
 * A parameter as one segment of a path.
 *
 * @throws TypeError for anything but a number or a non-empty string, and for `.` and `..`, which would name another route
 */
export function segment(parameter: Id): string {
  const isText = typeof parameter === 'string' && !['', '.', '..'].includes(parameter)
  if (!isText && !Number.isFinite(parameter))
    throw new TypeError('An id or a name in a path must be a number or a text, and neither "." nor ".."')
  return encodeURIComponent(parameter)
}

export const provider = '/integrations/provider_one'

/** What `data` holds. */
export const dataOf = ({ data }: Answer) => data

/** Sends a request and gives what `data` holds, or what `take` makes of the answer. */
export function callerOf(transport: Transport) {
  return <T>(
    method: string,
    path: string,
    options: RequestOptions = {},
    take: (answer: Answer) => T = dataOf,
  ): Result<T> => resultOf(transport.send(method, path, options), take)
}
