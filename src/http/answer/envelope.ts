import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { mayContainApiKey } from '../input/api-key-format.ts'
import { Pagination } from '../input/pagination.ts'
import { output, responseObject, withTitle } from '../input/schema/fields.ts'
import type { ResponseSettings } from '../request.ts'

/** The part of a request that is needed to build its response. */
export interface ResponseContext {
  caller?: { isSandbox: boolean }
  facts?: { ignored?: string[] }
  set: ResponseSettings
}

/**
 * Content type of every JSON response (decisions §1). It names the encoding, because some clients decode JSON without a
 * charset as Latin-1 and damage names.
 */
export const jsonContentType = 'application/json; charset=utf-8'

const acceptable = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the caller's `X-Request-Id` if it is valid and contains no API key (decisions §1 and §18), or a new id. */
export function chooseRequestId(headers: Headers): string {
  const sent = headers.get('x-request-id')
  return sent !== null && acceptable.test(sent) && !mayContainApiKey(sent) ? sent : crypto.randomUUID()
}

/** Returns the request id, or undefined if `REQUEST_IDS=off`. */
export function requestIdOf({ set }: Pick<ResponseContext, 'set'>): string | undefined {
  return set.headers['x-request-id'] as string | undefined
}

/** Returns the contract's success envelope `{ data, meta }`. */
export function ok<T, M extends object = Record<never, never>>(context: ResponseContext, data: T, meta?: M) {
  return { data, meta: { ...metaOf(context), ...(meta as M) } }
}

/** Returns the contract's success envelope, and sets the status to 201. */
export function created<T, M extends object = Record<never, never>>(
  context: ResponseContext,
  data: T,
  meta?: M,
) {
  context.set.status = 201
  return ok(context, data, meta)
}

/** Returns the `meta` fields that every success response has. */
export function metaOf(context: ResponseContext): {
  request_id?: string
  sandbox?: true
  ignored?: string[]
} {
  const requestId = requestIdOf(context)
  const ignored = context.facts?.ignored ?? []
  return {
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...(context.caller?.isSandbox ? { sandbox: true as const } : {}),
    ...(ignored.length > 0 ? { ignored } : {}),
  }
}

/** Schemas of the `meta` fields that every success response has. */
export const metaFields = {
  request_id: Type.Optional(output.text('Id of the request, to quote when contacting support')),
  sandbox: Type.Optional(Type.Literal(true, { description: 'True in the sandbox; absent on live data' })),
  ignored: Type.Optional(
    output.list(
      'Paths of sent fields that are unknown or read-only and were ignored, at most 20; absent if there are none',
      Type.String({ description: 'Path such as `room_types.0.colour`; `…` for one that is long or unusual' }),
    ),
  ),
}

/** Description of every `meta` in the documentation. */
export const aboutMeta = 'Metadata of the response'

/** Schema of the success envelope around `data`, with additional `meta` fields. */
export const Envelope = <T extends TSchema, M extends TProperties = Record<never, never>>(
  data: T,
  meta?: M,
) => responseObject({ data, meta: responseObject({ ...metaFields, ...(meta as M) }, aboutMeta) })

/** Schema of the success envelope around one numbered page of a list. */
export const PageEnvelope = <T extends TSchema>(data: T) => Envelope(data, { pagination: Pagination })

/** An entry in `errors[]` of an error that occurred earlier, such as in a logged request or a failed job. */
export const ProblemShown = responseObject({
  path: output.text('Path of the problem in the request, such as `data.0.room_type_id`'),
  code: output.text('Code for the kind of problem'),
  message: output.text('Human-readable description of what is expected at this path'),
})

/** `data` of a response that only confirms an action. */
export const Confirmation = withTitle(
  'Confirmation',
  responseObject({ message: output.text('Human-readable description of what was done') }),
)
