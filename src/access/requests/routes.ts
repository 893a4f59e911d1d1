import type { Access } from '../../http/access.ts'
import { Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { output, requestObject } from '../../http/input/schema/fields.ts'
import { routes } from '../../http/route.ts'
import { readCounts } from './counts-store.ts'
import { momentOf, readRequestPage, requestCursorProblems } from './request-page.ts'
import { CursorPagination, countFilters, RequestCount, RequestView, requestFilters } from './schema.ts'
import { serializeCount, serializeRequest } from './serialize.ts'

/** Defines the routes that list and count a key's requests (decisions §18). */
export function requestRoutes(app: AppContext) {
  const access: Access = { permission: 'any', window: 'insight', environment: 'skips', readsOwnKey: true }
  const { liveDb, clock } = app
  return routes(app, { prefix: '/requests', tags: ['Key'] })
    .get(
      '',
      {
        access,
        query: requestObject(requestFilters, requestCursorProblems),
        response: {
          200: Envelope(output.list('Requests on this page, newest first', RequestView), {
            pagination: CursorPagination,
          }),
        },
        detail: { operationId: 'listRequests', summary: 'List the requests made with this key' },
      },
      async (context) => {
        const { host, keyId } = context.caller
        const key = { host_id: host.id, key_id: keyId }
        const { rows, pagination } = await readRequestPage(liveDb, key, context.query, clock())
        return ok(context, rows.map(serializeRequest), { pagination })
      },
    )
    .get(
      '/counts',
      {
        access,
        query: requestObject(countFilters),
        response: {
          200: Envelope(
            output.list('Request counts of the last 24 hours by minute, oldest first', RequestCount),
          ),
        },
        detail: {
          operationId: 'countRequests',
          summary: 'Count the requests that count towards the rate limit of this key',
        },
      },
      async (context) => {
        const { host, keyId } = context.caller
        const key = { host_id: host.id, key_id: keyId }
        const counts = await readCounts(liveDb, key, momentOf(context.query.since), clock())
        return ok(
          context,
          counts.map(([minute, kinds]) => serializeCount(minute, kinds)),
        )
      },
    )
}
