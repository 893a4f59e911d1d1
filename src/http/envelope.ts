import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { named, responseObject, shown } from '../schema/fields.ts'
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

/** Fields of `meta` in every response. */
export const metaFields = {
  request_id: Type.Optional(shown.text('Id of the request, for questions to support')),
  sandbox: Type.Optional(Type.Literal(true, { description: 'Present and true in the sandbox' })),
}

/** What the documentation says of every `meta`. */
export const aboutMeta = 'About the response'

/** Schema of the success envelope around `data`. */
export const Envelope = <T extends TSchema>(data: T) =>
  responseObject({ data, meta: responseObject(metaFields, aboutMeta) })

/** Schema of the success envelope around one page of a list. */
export const PageEnvelope = <T extends TSchema, P extends TObject = typeof Pagination>(
  data: T,
  page: P = Pagination as unknown as P,
) => responseObject({ data, meta: responseObject({ ...metaFields, pagination: page }, aboutMeta) })

/** `data` of a response that only confirms what was done. */
export const Confirmation = named(
  'Confirmation',
  responseObject({ message: shown.text('What was done, in words') }),
)
