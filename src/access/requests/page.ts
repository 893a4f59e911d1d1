import type { Db } from '../../platform/mongo/connection.ts'
import { readCursor, writeCursor } from './cursor.ts'
import type { RequestQuestion } from './question.ts'
import { findRequests, type LoggedRequest } from './store.ts'

/** One page of a key's requests, newest first. */
export interface RequestPage {
  rows: LoggedRequest[]
  pagination: { per_page: number; next_cursor: string | null }
}

/**
 * Reads the page of a key's requests after a cursor.
 *
 * @throws DomainError `validation` for a cursor of another key
 */
export async function readRequestPage(
  db: Db,
  question: RequestQuestion & { key_id: number },
  { cursor, perPage }: { cursor: string | undefined; perPage: number },
  now: Date,
): Promise<RequestPage> {
  const after = cursor === undefined ? undefined : readCursor(question.key_id, cursor)
  const found = await findRequests(db, { ...question, after }, perPage + 1, now)
  const rows = found.slice(0, perPage)
  const last = found.length > perPage ? rows.at(-1) : undefined
  return {
    rows,
    pagination: { per_page: perPage, next_cursor: last ? writeCursor(question.key_id, last.id) : null },
  }
}
