import { isDeepStrictEqual } from 'node:util'
import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Problem } from '../../core/errors.ts'

/**
 * Returns functions that encode and decode the cursors of a list. A cursor holds a place in the list and the query that
 * the list was read with (decisions §2). Without the query, a cursor sent with another filter or `per_page` would
 * continue in one list but count in another, so that `total` and `from` would be wrong and rows could be skipped.
 *
 * @param list name of the list; cursors of other lists are rejected
 */
export function cursorsOf<P extends TSchema, Q extends TProperties>(list: string, place: P, query: Q) {
  const form = Type.Tuple([Type.Literal(list), place, Type.Object(query, { additionalProperties: false })])
  // A client may send anything as a cursor, so what it holds is checked like any other input.
  const check = TypeCompiler.Compile(form)
  return {
    /** Encodes a place and a query as an opaque string. */
    write(at: Static<P>, asked: WithUndefined<Static<TObject<Q>>>): string {
      return Buffer.from(JSON.stringify([list, at, asked])).toString('base64url')
    },
    /** Decodes a cursor; returns null for anything that is not a cursor of this list. */
    read(cursor: string): { place: Static<P>; query: Static<TObject<Q>> } | null {
      const decoded = parse(Buffer.from(cursor, 'base64url').toString())
      if (!check.Check(decoded)) return null
      const [, at, asked] = decoded as [string, Static<P>, Static<TObject<Q>>]
      return { place: at, query: asked }
    },
  }
}

/** JSON text leaves out a parameter that is undefined. */
type WithUndefined<T> = { [Name in keyof T]: T[Name] | undefined }

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns a problem for each parameter that is sent with a cursor but has a value other than the one the cursor was
 * made for.
 *
 * @param made the query that the cursor holds
 * @param sent the parameters in the form that they have in cursors; undefined for a parameter that was not sent
 * @param isValidAt returns false for a parameter that has a problem of its own
 */
export function othersThanIn(
  made: Record<string, unknown>,
  sent: Record<string, unknown>,
  isValidAt: (path: string) => boolean,
): Problem[] {
  const others = Object.keys(sent).filter(
    (name) => sent[name] !== undefined && isValidAt(name) && !isDeepStrictEqual(sent[name], made[name]),
  )
  return others.map((name) => {
    const message = `"${name}" must be left out or have the value that "cursor" was made for`
    return { path: name, code: 'invalid', message }
  })
}
