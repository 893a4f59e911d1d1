/**
 * Returns true if the client wants unknown and read-only fields to be refused, not ignored: `Prefer: handling=strict`
 * (RFC 7240, 4.4). If a preference is repeated, the first instance counts.
 */
export function prefersStrict(headers: Headers): boolean {
  const value = preferencesOf(headers).find(({ name }) => name === 'handling')?.value
  return value === 'strict' || value === '"strict"'
}

/**
 * Returns true if the client only looks at a feed: `Prefer: peek`. Its pages do not count as read by the key (decisions
 * §28), because a person or an agent that peeks does not handle the changes.
 */
export function prefersPeek(headers: Headers): boolean {
  return preferencesOf(headers).some(({ name }) => name === 'peek')
}

interface Preference {
  name: string
  value: string
}

/**
 * Returns the preferences in the order in which they were sent, with quoted values in their quotes. Parameters, which
 * follow a semicolon, have no meaning for the preferences that the service knows.
 */
function preferencesOf(headers: Headers): Preference[] {
  const sent = headers.get('prefer')
  // Most requests state no preference, and each is asked for two.
  if (sent === null) return []
  return withoutQuotedSeparators(sent)
    .split(',')
    .map((element) => {
      const [preference = ''] = element.split(';')
      const [name = '', ...value] = preference.split('=')
      return { name: name.trim().toLowerCase(), value: value.join('=').trim() }
    })
}

/** Replaces what separates nothing because it stands in quotes. No value that counts has such a character. */
function withoutQuotedSeparators(text: string): string {
  const unescaped = text.replace(/\\./g, '_')
  return unescaped.replace(/"[^"]*"/g, (quoted) => quoted.replace(/[,;=]/g, '_'))
}
