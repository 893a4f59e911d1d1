import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { Pagination } from './pagination.ts'
import { named, responseObject, shown } from './schema/fields.ts'

/** The part of a request's context that a response is built from. */
export interface ResponseContext {
  caller?: { isSandbox: boolean }
  set: { headers: Record<string, string | number | undefined> }
}

/** Returns the request id, or undefined if `REQUEST_IDS=off`. */
export function requestIdOf({ set }: ResponseContext): string | undefined {
  return set.headers['x-request-id'] as string | undefined
}

/** Returns the contract's success envelope `{ data, meta }`. */
export function ok<T, M extends object = Record<never, never>>(context: ResponseContext, data: T, meta?: M) {
  return { data, meta: { ...metaOf(context), ...(meta as M) } }
}

/** Returns the `meta` fields that every success response has. */
export function metaOf(context: ResponseContext): { request_id?: string; sandbox?: true } {
  const requestId = requestIdOf(context)
  return {
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...(context.caller?.isSandbox ? { sandbox: true as const } : {}),
  }
}

/** Schemas of the `meta` fields that every success response has. */
export const metaFields = {
  request_id: Type.Optional(shown.text('Id of the request, for questions to support')),
  sandbox: Type.Optional(Type.Literal(true, { description: 'Present and true in the sandbox' })),
}

/** Description of every `meta` in the documentation. */
export const aboutMeta = 'About the response'

/** Schema of the success envelope around `data`, with additional `meta` fields. */
export const Envelope = <T extends TSchema, M extends TProperties = Record<never, never>>(
  data: T,
  meta?: M,
) => responseObject({ data, meta: responseObject({ ...metaFields, ...(meta as M) }, aboutMeta) })

/** Schema of the success envelope around one page of a list. */
export const PageEnvelope = <T extends TSchema, P extends TObject = typeof Pagination>(
  data: T,
  page: P = Pagination as unknown as P,
) => Envelope(data, { pagination: page })

/** An entry of `errors[]` in a response that reports an earlier error. */
export const ProblemShown = responseObject({
  path: shown.text('Where the problem is, as in the request: `data.0.room_type_id`'),
  code: shown.text('What kind of problem it is'),
  message: shown.text('What is expected there, in words'),
})

/** `data` of a response that only confirms an action. */
export const Confirmation = named(
  'Confirmation',
  responseObject({ message: shown.text('What was done, in words') }),
)
