import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { answerObject } from '../schema/types.ts'
import { Pagination } from './pagination.ts'

/** The part of a request's context that an answer is written from. */
export interface AnswerContext {
  caller?: { isSandbox: boolean }
  set: { headers: Record<string, string | number | undefined> }
}

/** The request id, or undefined where `REQUEST_IDS=off`. */
export function requestIdOf({ set }: AnswerContext): string | undefined {
  return set.headers['x-request-id'] as string | undefined
}

/** The success envelope `{ data, meta }` of the contract. */
export function ok<T, M extends object = Record<never, never>>(context: AnswerContext, data: T, meta?: M) {
  return { data, meta: { ...metaOf(context), ...(meta as M) } }
}

/** `meta` as every success answer has it. */
export function metaOf(context: AnswerContext): { request_id?: string; sandbox?: true } {
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
export const Envelope = <T extends TSchema>(data: T) => answerObject({ data, meta: answerObject(meta) })

/** Schema of the success envelope around one page of a list. */
export const PageEnvelope = <T extends TSchema, P extends TObject = typeof Pagination>(
  data: T,
  page: P = Pagination as unknown as P,
) => answerObject({ data, meta: answerObject({ ...meta, pagination: page }) })
