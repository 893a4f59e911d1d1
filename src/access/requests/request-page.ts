import { Type } from '@sinclair/typebox'
import { parseMoment } from '../../core/clock.ts'
import { invalidField, type Problem } from '../../core/errors.ts'
import { cursorsOf, othersThanIn } from '../../http/input/cursor.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { defaultPerPage, maxPerPage, requestFilters } from './schema.ts'
import { findRequests } from './store.ts'

/** The query of `GET /v1/requests`. */
export interface RequestQuery {
  per_page?: number | undefined
  cursor?: string | undefined
  status?: string[] | undefined
  request_id?: string | undefined
  since?: string | undefined
}

const { status, request_id, since } = requestFilters
const place = Type.Object({
  /** Id of the key whose requests are listed. */
  key: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  /** Id of the previous page's last entry. */
  after: Type.RegExp(/^[0-9a-f-]{36}$/),
})
const perPage = Type.Integer({ minimum: 1, maximum: maxPerPage })
const cursors = cursorsOf('requests', place, { per_page: perPage, status, request_id, since })

/**
 * Returns the page of a key's requests that a query asks for, newest first.
 *
 * @throws DomainError `validation` if the cursor is malformed or belongs to another key
 */
export async function readRequestPage(
  db: Db,
  key: { host_id: number; key_id: number },
  sent: RequestQuery,
  now: Date,
) {
  const cursor = sent.cursor === undefined ? null : cursors.read(sent.cursor)
  if (sent.cursor !== undefined && cursor?.place.key !== key.key_id)
    throw invalidField('cursor', notOfThisKey)
  const query = { ...filtersOf(sent), ...cursor?.query }
  const { per_page = defaultPerPage, ...filters } = query
  const criteria = {
    ...key,
    request_id: filters.request_id,
    statuses: filters.status,
    since: momentOf(filters.since),
    after: cursor?.place.after,
  }
  const found = await findRequests(db, criteria, per_page + 1, now)
  const rows = found.slice(0, per_page)
  const last = found.length > per_page ? rows.at(-1) : undefined
  const next_cursor = last
    ? cursors.write({ key: key.key_id, after: last.id }, { per_page, ...filters })
    : null
  return { rows, pagination: { per_page, next_cursor } }
}

const notOfThisKey = '"cursor" must be the "next_cursor" of a page of this key'

/** Returns a query's filters in the form in which cursors keep them, whatever the order of its statuses. */
function filtersOf({ per_page, status, request_id, since }: RequestQuery) {
  return {
    per_page,
    status: status && [...new Set(status)].sort(),
    request_id,
    since: momentOf(since)?.toISOString(),
  }
}

/** Returns a valid time as a date; undefined for anything else. */
export function momentOf(since: string | undefined): Date | undefined {
  if (since === undefined) return undefined
  return parseMoment(since) ?? undefined
}

/**
 * Reports a malformed cursor, and parameters other than those it was made for, together with the query's other problems
 * (decisions §1). {@link readRequestPage} checks the key.
 */
export function requestCursorProblems(query: RequestQuery, isValidAt: (path: string) => boolean): Problem[] {
  if (query.cursor === undefined || !isValidAt('cursor')) return []
  const cursor = cursors.read(query.cursor)
  if (cursor === null) return [{ path: 'cursor', code: 'invalid', message: notOfThisKey }]
  return othersThanIn(cursor.query, filtersOf(query), isValidAt)
}
