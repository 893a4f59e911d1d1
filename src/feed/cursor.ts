import { invalidField } from '../errors.ts'

/** Where a cursor continues: after a version. The page number is only for `current_page`. */
export interface CursorPosition {
  version: Date
  page: number
}

/** A position as an opaque string. */
export function writeCursor({ version, page }: CursorPosition): string {
  return Buffer.from(`${version.getTime() / 1000}.${page}`).toString('base64url')
}

/**
 * The position that a cursor stands for.
 *
 * @throws DomainError `validation` for anything that is not a cursor
 */
export function readCursor(cursor: string): CursorPosition {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, seconds, page] = /^(\d{1,12})\.(\d{1,15})$/.exec(text) ?? []
  if (seconds === undefined || Number(page) < 1) {
    throw invalidField('cursor', '"cursor" must be the "next_cursor" of a page')
  }
  return { version: new Date(Number(seconds) * 1000), page: Number(page) }
}
