const integers = new Set(['page', 'per_page', 'wait'])
const lists = new Set(['listing_status', 'status'])
/**
 * Parameters that must not be silently ignored, because the result would then be too broad. `key[…]` is therefore
 * refused as if `key` were repeated.
 */
const bare = new Set(['email'])

/**
 * Returns a request's query as an object. A list parameter is always an array, whether it is sent once, repeatedly or
 * as `key[]`. Any other repeated parameter also becomes an array, which then fails validation. Integers in `page`,
 * `per_page` and `wait` become numbers; all other values stay strings.
 */
export function readQuery(url: string): Record<string, unknown> {
  const start = url.indexOf('?')
  if (start < 0) return {}
  // The arrays grow in place, so thousands of repeated parameters cost no more than thousands of distinct ones.
  const sent = new Map<string, string[]>()
  for (const [rawKey, value] of new URLSearchParams(url.slice(start))) {
    const [name = ''] = rawKey.split('[', 1)
    const isRefused = name !== rawKey && bare.has(name)
    const key = isRefused ? name : rawKey.endsWith('[]') ? rawKey.slice(0, -2) : rawKey
    const values = sent.get(key) ?? []
    values.push(...(isRefused ? [value, value] : [value]))
    sent.set(key, values)
  }
  sent.delete('__proto__')
  return Object.fromEntries([...sent].map(([key, values]) => [key, toValue(key, values)]))
}

function toValue(key: string, values: string[]): unknown {
  const [first = '', ...others] = values
  return lists.has(key) || others.length > 0 ? values : toScalar(key, first)
}

function toScalar(key: string, value: string): string | number {
  return integers.has(key) && /^-?\d{1,300}$/.test(value) ? Number(value) : value
}
