/**
 * Returns the values of a header that a client may send several times. The runtime joins repeated headers with a comma
 * and a space, so a value that contains both cannot be told from two values.
 */
export function repeatedValues(headers: Headers, name: string): string[] {
  const joined = headers.get(name)
  return joined === null ? [] : joined.split(/,[ \t]+/).map((value) => value.trim())
}
