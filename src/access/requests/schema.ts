import { type Static, Type } from '@sinclair/typebox'
import { ProblemShown } from '../../http/envelope.ts'
import { Pagination, pageQuery } from '../../http/pagination.ts'
import { named, nullable, responseObject, shown, text } from '../../http/schema/fields.ts'

const since = (description: string) =>
  Type.Optional(
    text(40, { format: 'moment', whenBlank: 'invalid', description, example: '2026-01-31T12:00:00Z' }),
  )

export const defaultPerPage = 50

/** Query of `GET /v1/requests` (decisions §18). */
export const requestFilters = {
  per_page: pageQuery(defaultPerPage, 100).per_page,
  cursor: Type.Optional(
    text(128, {
      whenBlank: 'invalid',
      description: 'The `next_cursor` of the previous page; belongs to its key',
    }),
  ),
  status: Type.Optional(
    Type.Array(text(255, { format: 'response-status', whenBlank: 'invalid' }), {
      maxItems: 20,
      namesElements: false,
      description:
        'Only these statuses: `2xx` to `5xx`, a number, or `unanswered` for those that a fault of the sandbox left without a response; may be repeated',
      example: ['4xx'],
    }),
  ),
  request_id: Type.Optional(
    text(128, {
      whenBlank: 'invalid',
      description: 'Only the request with this `X-Request-Id`',
      example: '3b0f8a52-6f0e-4b0a-9d55-2f6f3c1d7c11',
    }),
  ),
  since: since('Only requests that arrived at this time or later: ISO 8601, or `YYYY-MM-DD HH:MM:SS` in UTC'),
}

/** Query of `GET /v1/requests/counts`. */
export const countFilters = {
  since: since('Only the minutes from this one on: ISO 8601, or `YYYY-MM-DD HH:MM:SS` in UTC'),
}

const RequestError = responseObject(
  {
    type: shown.text('Kind of error, as in the response'),
    message: shown.text('What went wrong, in words'),
    errors: shown.list('The single problems, the first 20 of them', ProblemShown),
  },
  'The error of the response',
)

/** A logged request as shown to the key's holder (decisions §18). */
export const RequestView = named(
  'Request',
  responseObject({
    id: shown.text('Id of this entry; a request id may repeat'),
    request_id: shown.textOrNull('The `X-Request-Id` of the response; null where ids are switched off'),
    at: shown.timestamp('When the request arrived'),
    method: shown.text('Method of the request'),
    path: shown.text('Path of the request without its query; `…` stands for what had not its proper form'),
    status: shown.integer(
      'Status of the response; 0 where a fault of the sandbox left the request without one',
    ),
    error: nullable(RequestError, { description: 'The error of the response; null for a success' }),
    duration_ms: shown.number('Milliseconds it took, without the time for which `wait` held it'),
    replayed: shown.boolean('True for the replay of an earlier response with the same `Idempotency-Key`'),
    sandbox: shown.boolean('True for a request to the sandbox'),
    address: shown.text('Address that the request came from'),
    fault: shown.textOrNull('The fault of the sandbox that the request met; null for none'),
  }),
)
export type RequestView = Static<typeof RequestView>

/** Page metadata of a cursor-paginated list. */
export const CursorPagination = named(
  'CursorPagination',
  responseObject({
    per_page: Pagination.properties.per_page,
    next_cursor: shown.textOrNull('Cursor of the next page; null on the last page'),
  }),
)

/** The request counts of one minute (decisions §18). */
export const RequestCount = named(
  'RequestCount',
  responseObject({
    at: shown.timestamp('Beginning of the minute; a minute without requests is left out'),
    succeeded: shown.integer('Responses below 400', 'count'),
    refused: shown.integer('Responses from 400 to 499, except 429', 'count'),
    limited: shown.integer('Responses with 429: beyond the rate limit', 'count'),
    failed: shown.integer('Responses from 500 on', 'count'),
    unanswered: shown.integer('Requests that a fault of the sandbox left without a response', 'count'),
  }),
)
export type RequestCount = Static<typeof RequestCount>
