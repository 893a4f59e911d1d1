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
