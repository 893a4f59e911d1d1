import { invalidField } from '../../core/errors.ts'

/** After which entry a page continues, as an opaque string that only its key can use. */
export function writeCursor(keyId: number, entryId: string): string {
  return Buffer.from(`${keyId}.${entryId}`).toString('base64url')
}

/**
 * The id of the entry after which a page continues.
 *
 * @throws DomainError `validation` for anything that is not a cursor of this key
 */
export function readCursor(keyId: number, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, key, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(text) ?? []
  if (Number(key) !== keyId || id === undefined)
    throw invalidField('cursor', '"cursor" must be the "next_cursor" of a page of this key')
  return id
}
