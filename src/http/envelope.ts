import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { responseObject } from '../schema/fields.ts'
import { Pagination } from './pagination.ts'

/** The part of a request's context that a response is built from. */
export interface ResponseContext {
  caller?: { isSandbox: boolean }
  set: { headers: Record<string, string | number | undefined> }
}

/** The request id, or undefined where `REQUEST_IDS=off`. */
export function requestIdOf({ set }: ResponseContext): string | undefined {
  return set.headers['x-request-id'] as string | undefined
}

/** The success envelope `{ data, meta }` of the contract. */
export function ok<T, M extends object = Record<never, never>>(context: ResponseContext, data: T, meta?: M) {
  return { data, meta: { ...metaOf(context), ...(meta as M) } }
}

/** `meta` as every success response has it. */
export function metaOf(context: ResponseContext): { request_id?: string; sandbox?: true } {
  const requestId = requestIdOf(context)
  return {
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...(context.caller?.isSandbox ? { sandbox: true as const } : {}),
  }
}

const meta = {
  request_id: Type.Optional(Type.String()),
  sandbox: Type.Optional(Type.Literal(true)),
}

/** Schema of the success envelope around `data`. */
export const Envelope = <T extends TSchema>(data: T) => responseObject({ data, meta: responseObject(meta) })

/** Schema of the success envelope around one page of a list. */
export const PageEnvelope = <T extends TSchema, P extends TObject = typeof Pagination>(
  data: T,
  page: P = Pagination as unknown as P,
) => responseObject({ data, meta: responseObject({ ...meta, pagination: page }) })

/** `data` of a response that only confirms what was done. */
export const Confirmation = responseObject({ message: Type.String() })
