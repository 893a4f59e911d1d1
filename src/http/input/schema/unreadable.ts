/*
 * These stand for the value of a query parameter that cannot be read. Both contain a broken character, which no schema
 * accepts, so that the parameter is reported as `invalid`. Without them, such a parameter would be ignored or match
 * nothing, and the client would take a result that is too broad, or empty, for the answer to its question.
 */

/** The text is not UTF-8, or has a `%` without two hexadecimal digits. */
export const unreadable = '\uD800%'
/** The name has brackets that it must not have. */
export const bracketed = '\uD800['

/** Returns the rest of a problem's sentence if a parameter's value cannot be read; undefined for any other value. */
export function demandOfUnreadable(value: unknown): string | undefined {
  const values = [value].flat()
  if (values.includes(bracketed)) return 'must be sent without these brackets'
  if (values.includes(unreadable)) return 'must be text in UTF-8 in which each "%" has two hexadecimal digits'
  return undefined
}
