import { type Static, Type } from '@sinclair/typebox'
import { ProblemShown } from '../../http/answer/envelope.ts'
import { Pagination, pageQuery } from '../../http/input/pagination.ts'
import { nullable, output, responseObject, text, withTitle } from '../../http/input/schema/fields.ts'

const since = (description: string) =>
  Type.Optional(
    text(40, { format: 'moment', whenBlank: 'invalid', description, example: '2026-01-31T12:00:00Z' }),
  )

export const defaultPerPage = 50
export const maxPerPage = 100

/** Query parameters of `GET /v1/requests` (decisions §18). */
export const requestFilters = {
  per_page: pageQuery(defaultPerPage, maxPerPage).per_page,
  cursor: Type.Optional(
    text(2048, {
      whenBlank: 'invalid',
      description:
        '`next_cursor` of the previous page; valid only for the same key. It keeps `per_page` and the filters, which may be omitted but must not differ from those of the cursor',
    }),
  ),
  status: Type.Optional(
    Type.Array(text(255, { format: 'response-status', whenBlank: 'invalid' }), {
      maxItems: 20,
      namesElements: false,
      description:
        'Statuses to include: `2xx` to `5xx`, a number, or `unanswered` for requests that a sandbox fault left without a response; repeated, or separated by commas',
      example: ['4xx'],
    }),
  ),
  request_id: Type.Optional(
    text(128, {
      whenBlank: 'invalid',
      description: '`X-Request-Id` of the request to include',
      example: '3b0f8a52-6f0e-4b0a-9d55-2f6f3c1d7c11',
    }),
  ),
  since: since('Earliest arrival time of the requests to include: ISO 8601, or `YYYY-MM-DD HH:MM:SS` in UTC'),
}

/** Query parameters of `GET /v1/requests/counts`. */
export const countFilters = {
  since: since('First minute to include: ISO 8601, or `YYYY-MM-DD HH:MM:SS` in UTC'),
}

const RequestError = responseObject(
  {
    type: output.text('Kind of error, as in the response'),
    message: output.text('Description of the error'),
    errors: output.list('Individual problems, at most the first 20', ProblemShown),
  },
  'Error in the response',
)

/** A logged request as shown to the key's holder (decisions §18). */
export const RequestView = withTitle(
  'Request',
  responseObject({
    id: output.text('Id of the entry; unique, unlike a request id, which may repeat'),
    request_id: output.textOrNull('`X-Request-Id` of the response; null if request ids are switched off'),
    at: output.timestamp('Time at which the request arrived'),
    method: output.text('Method of the request'),
    path: output.text('Path of the request without its query; `…` stands for malformed parts'),
    status: output.integer(
      'Status of the response; 0 if a sandbox fault left the request without a response',
    ),
    error: nullable(RequestError, { description: 'Error in the response; null if the request succeeded' }),
    duration_ms: output.number(
      'Duration of the request in milliseconds, excluding the time for which `wait` held it',
    ),
    replayed: output.boolean('True if the response replayed an earlier one with the same `Idempotency-Key`'),
    sandbox: output.boolean('True for a request to the sandbox'),
    address: output.text('Client address of the request'),
    fault: output.textOrNull('Sandbox fault that the request met; null if none'),
  }),
)
export type RequestView = Static<typeof RequestView>

/** Page metadata of a cursor-paginated list. */
export const CursorPagination = withTitle(
  'CursorPagination',
  responseObject({
    per_page: Pagination.properties.per_page,
    next_cursor: output.textOrNull('Cursor of the next page; null on the last page'),
  }),
)

/** The request counts of one minute (decisions §18). */
export const RequestCount = withTitle(
  'RequestCount',
  responseObject({
    at: output.timestamp('Start of the minute; minutes without requests are omitted'),
    succeeded: output.integer('Number of responses with a status below 400', 'count'),
    refused: output.integer('Number of responses with a status from 400 to 499, except 429', 'count'),
    limited: output.integer(
      'Number of responses with status 429 because the rate limit was exceeded',
      'count',
    ),
    failed: output.integer('Number of responses with a status of 500 or above', 'count'),
    unanswered: output.integer('Number of requests that a sandbox fault left without a response', 'count'),
  }),
)
export type RequestCount = Static<typeof RequestCount>
