const integers = new Set(['page', 'per_page', 'wait'])
const lists = new Set(['listing_status', 'status'])

/**
 * The query of a request as an object. A list is always an array, however it is written (once, repeated,
 * `key[]`); the digits of `page` and `per_page` become numbers; everything else stays a string.
 * Any other key that repeats becomes an array too, and fails its check.
 */
export function readQuery(url: string): Record<string, unknown> {
  const start = url.indexOf('?')
  if (start < 0) return {}
  const query: Record<string, unknown> = {}
  for (const [rawKey, value] of new URLSearchParams(url.slice(start))) {
    const key = rawKey.endsWith('[]') ? rawKey.slice(0, -2) : rawKey
    if (key === '__proto__') continue
    const known = query[key]
    if (known !== undefined) query[key] = [known, value].flat()
    else query[key] = lists.has(key) ? [value] : toScalar(key, value)
  }
  return query
}

function toScalar(key: string, value: string): string | number {
  return integers.has(key) && /^-?\d{1,300}$/.test(value) ? Number(value) : value
}
