import { Type } from '@sinclair/typebox'
import type { RequestView } from '../../src/access/requests/schema.ts'
import type { PartnerClient } from '../client/client.ts'

/** A logged request; an administrator sees whose it is. */
export type RequestRow = Partial<{ host_id: number; key_id: number }> & RequestView

/** Which requests a command asks for. */
export interface RequestSearch {
  statuses?: string[] | undefined
  requestId?: string | undefined
  /** Only those that arrived then or later. */
  since?: string | undefined
}

/** Returns the newest requests, latest first, at most `limit`. */
export type RequestSource = (search: RequestSearch, limit: number) => Promise<RequestRow[]>

/** The most rows that one request to the service returns. */
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

/** The requests of the client's own key, over HTTP. */
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
