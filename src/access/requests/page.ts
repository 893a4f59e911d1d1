import { invalidField, type Problem } from '../../core/errors.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { RequestCriteria } from './criteria.ts'
import { findRequests } from './store.ts'

/**
 * Returns the page of a key's requests after a cursor, newest first, or the first page if there is no cursor.
 *
 * @throws DomainError `validation` if the cursor is malformed or belongs to another key
 */
export async function readRequestPage(
  db: Db,
  question: RequestCriteria & { key_id: number },
  { cursor, perPage }: { cursor: string | undefined; perPage: number },
  now: Date,
) {
  const after = cursor === undefined ? undefined : readCursor(question.key_id, cursor)
  const found = await findRequests(db, { ...question, after }, perPage + 1, now)
  const rows = found.slice(0, perPage)
  const last = found.length > perPage ? rows.at(-1) : undefined
  return {
    rows,
    pagination: { per_page: perPage, next_cursor: last ? writeCursor(question.key_id, last.id) : null },
  }
}

/**
 * Encodes the id of a page's last entry as an opaque cursor for the next page. The cursor is valid only for this key.
 */
export function writeCursor(keyId: number, entryId: string): string {
  return Buffer.from(`${keyId}.${entryId}`).toString('base64url')
}

const notOfThisKey = '"cursor" must be the "next_cursor" of a page of this key'

function partsOf(cursor: string): { key: number; id: string } | null {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, key, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(text) ?? []
  return id === undefined ? null : { key: Number(key), id }
}

/**
 * Reports a malformed cursor together with the query's other problems (decisions §1). {@link readCursor} checks the
 * key.
 */
export function cursorProblems({ cursor }: { cursor?: string }): Problem[] {
  if (cursor === undefined || partsOf(cursor)) return []
  return [{ path: 'cursor', code: 'invalid', message: notOfThisKey }]
}

/**
 * Returns the id of the entry after which the cursor's page starts.
 *
 * @throws DomainError `validation` if the cursor is malformed or belongs to another key
 */
export function readCursor(keyId: number, cursor: string): string {
  const parts = partsOf(cursor)
  if (parts?.key !== keyId) throw invalidField('cursor', notOfThisKey)
  return parts.id
}
