import { invalidField } from '../errors.ts'

/** Where a cursor walk goes on: after a version, with the number of the page for the reader's comfort. */
export interface CursorPosition {
  version: Date
  page: number
}

/** A position as an opaque word. */
export function writeCursor({ version, page }: CursorPosition): string {
  return Buffer.from(`${version.getTime() / 1000}.${page}`).toString('base64url')
}

/**
 * The position behind a cursor.
 *
 * @throws DomainError `validation` for a word that is none
 */
export function readCursor(cursor: string): CursorPosition {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, seconds, page] = /^(\d{1,12})\.(\d{1,15})$/.exec(text) ?? []
  if (seconds === undefined || Number(page) < 1) {
    throw invalidField('cursor', '"cursor" must be the "next_cursor" of a page')
  }
  return { version: new Date(Number(seconds) * 1000), page: Number(page) }
}
