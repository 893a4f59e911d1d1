import { Type } from '@sinclair/typebox'
import type { RequestView } from '../../src/access/requests/schema.ts'
import type { PartnerClient } from '../client/client.ts'
import { visible } from '../text.ts'

/** A logged request; an administrator also sees its host and key. */
export type RequestRow = Partial<{ host_id: number; key_id: number }> & RequestView

/** Criteria that select the requests to show. */
export interface RequestSearch {
  statuses?: string[] | undefined
  requestId?: string | undefined
  /** Only requests that arrived at this time or later. */
  since?: string | undefined
}

/** Returns at most `limit` of the most recent requests, newest first. */
export type RequestSource = (search: RequestSearch, limit: number) => Promise<RequestRow[]>

/** Maximum number of rows in one response from the service. */
export const perPage = 100

/** The parts of a response that the commands rely on. */
const Requests = Type.Array(
  Type.Object({
    ...{ id: Type.String(), at: Type.String(), method: Type.String(), path: Type.String() },
    ...{ status: Type.Integer(), duration_ms: Type.Number() },
    error: Type.Union([
      Type.Null(),
      Type.Object({
        ...{ type: Type.String(), message: Type.String() },
        errors: Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
      }),
    ]),
  }),
)

/** Returns a source that reads the requests made with the client's own key over HTTP. */
export function partnerSource(client: PartnerClient): RequestSource {
  return async ({ statuses, requestId, since }, limit) => {
    const rows: RequestRow[] = []
    let cursor: string | null | undefined
    do {
      const query = {
        per_page: Math.min(perPage, limit - rows.length),
        ...{ status: statuses, request_id: requestId, since },
        ...(cursor ? { cursor } : {}),
      }
      const { data, meta } = await client.send<RequestRow[]>('GET', '/requests', { query, expects: Requests })
      rows.push(...data)
      cursor = meta.pagination?.next_cursor
    } while (cursor && rows.length < limit)
    return rows
  }
}

/**
 * Describes a request for a person in one line, followed by lines with the reasons if it failed. Line breaks in a
 * request's data do not start a new line.
 */
export function describeRequest(row: RequestRow): string {
  const { at, status, method, path, duration_ms, request_id, replayed, error, fault } = row
  const owner = row.key_id === undefined ? [] : [`host ${row.host_id} key ${row.key_id}`]
  const parts = [
    `${at.slice(0, 19)}Z`,
    status === 0 ? 'unanswered' : status,
    `${method} ${path}`,
    ...owner,
    `${duration_ms} ms${replayed ? ', replayed' : ''}${fault ? `, ${fault}` : ''}`,
    request_id ?? '-',
  ]
  const problems =
    error?.errors.map((problem) => `${problem.path}: ${problem.message} (${problem.code})`) ?? []
  const why = error ? [`${error.message} (${error.type})`, ...problems] : []
  return [parts.join('  '), ...why.map((line) => `    ${line}`)].map(visible).join('\n')
}
