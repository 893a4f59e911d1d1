const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const word = String.raw`(?:${token}|"(?:[^"\\]|\\.)*")`
const blanks = '[ \\t]*'
/**
 * A name with an optional value. No two parts match the same text, so the pattern cannot backtrack catastrophically.
 */
const pair = (name: string, value: string) => `${name}${blanks}(?:=${blanks}${value}${blanks})?`
/** Matches a preference with its parameters (RFC 7240, 2), or malformed text, including the comma that follows. */
const element = new RegExp(
  `${blanks}${pair(`(${token})`, `(${word})`)}(?:;${blanks}(?:${pair(token, word)})?)*(?:,|$)|[^,]*(?:,|$)`,
  'g',
)

/**
 * Returns true if the client wants unknown and read-only fields to be refused, not ignored: `Prefer: handling=strict`
 * (RFC 7240, 4.4). If a preference is repeated, the first instance counts. Malformed preferences are ignored.
 */
export function prefersStrict(headers: Headers): boolean {
  const value = findPreference(headers, 'handling')?.[2]
  return value === 'strict' || value === '"strict"'
}

/**
 * Returns true if the client only looks at a feed: `Prefer: peek`. Its pages do not count as read by the key (decisions
 * §28), because a person or an agent that peeks does not handle the changes.
 */
export function prefersPeek(headers: Headers): boolean {
  return findPreference(headers, 'peek') !== undefined
}

function findPreference(headers: Headers, name: string): RegExpExecArray | undefined {
  const sent = headers.get('prefer')
  if (sent === null) return undefined
  const elements = [...sent.matchAll(element)]
  return elements.find(([, found]) => found?.toLowerCase() === name)
}
