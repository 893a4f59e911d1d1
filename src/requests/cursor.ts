import { invalidField } from '../errors.ts'
import type { LoggedRequest } from './store.ts'

/** After which entry a page continues, as an opaque string that only its key can use. */
export function writeCursor(keyId: number, { at, id }: Pick<LoggedRequest, 'at' | 'id'>): string {
  return Buffer.from(`${keyId}.${at.getTime()}.${id}`).toString('base64url')
}

/**
 * The entry after which a page continues.
 *
 * @throws DomainError `validation` for anything that is not a cursor of this key
 */
export function readCursor(keyId: number, cursor: string): Pick<LoggedRequest, 'at' | 'id'> {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, key, at, id] = /^(\d{1,15})\.(\d{1,15})\.([0-9a-z]{34})$/.exec(text) ?? []
  if (Number(key) !== keyId || at === undefined || id === undefined)
    throw invalidField('cursor', '"cursor" must be the "next_cursor" of a page of this key')
  return { at: new Date(Number(at)), id }
}
