const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const word = String.raw`(?:${token}|"(?:[^"\\]|\\.)*")`
const blanks = '[ \\t]*'
/** A name with an optional value. No two parts of the pattern match the same text, so matching is never slow. */
const pair = (name: string, value: string) => `${name}${blanks}(?:=${blanks}${value}${blanks})?`
/** A preference with its parameters (RFC 7240, 2), or any malformed text, including the comma after it. */
const element = new RegExp(
  `${blanks}${pair(`(${token})`, `(${word})`)}(?:;${blanks}(?:${pair(token, word)})?)*(?:,|$)|[^,]*(?:,|$)`,
  'g',
)

/**
 * Returns true if a request asks the service to refuse ignored fields: `Prefer: handling=strict` (RFC 7240, 4.4). The
 * first instance of a preference counts, and malformed preferences are ignored.
 */
export function prefersStrict(headers: Headers): boolean {
  const elements = [...(headers.get('prefer') ?? '').matchAll(element)]
  const value = elements.find(([, name]) => name?.toLowerCase() === 'handling')?.[2]
  return value === 'strict' || value === '"strict"'
}
