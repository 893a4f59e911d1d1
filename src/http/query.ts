import { bracketed, unreadable } from './schema/unreadable.ts'

const integers = new Set(['page', 'per_page', 'wait'])
const lists = new Set(['listing_status', 'status'])

/**
 * Returns a request's query as an object. A list parameter is always an array, whether it is sent once, repeatedly, as
 * `key[]` or as `key[0]`. Any other repeated parameter also becomes an array, which then fails validation, and so does
 * a parameter with any other bracket or with text that is not UTF-8. Integers in `page`, `per_page` and `wait` become
 * numbers; all other values stay strings.
 */
export function readQuery(url: string): Record<string, unknown> {
  const start = url.indexOf('?')
  if (start < 0) return {}
  // The arrays grow in place, so thousands of repeated parameters cost no more than thousands of distinct ones.
  const sent = new Map<string, string[]>()
  for (const pair of url.slice(start + 1).split('&')) {
    const [name, value] = readParameter(pair)
    const values = sent.get(name) ?? []
    values.push(value)
    sent.set(name, values)
  }
  sent.delete('__proto__')
  return Object.fromEntries([...sent].map(([name, values]) => [name, toValue(name, values)]))
}

/** Returns a parameter's name without brackets, and its value. */
function readParameter(pair: string): [name: string, value: string] {
  const equals = pair.indexOf('=')
  const rawName = equals < 0 ? pair : pair.slice(0, equals)
  const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
  const sentName = decode(rawName)
  if (sentName === unreadable) return [rawName.replace(/[^\w-].*/s, ''), unreadable]
  const bracket = sentName.search(/[[\]]/)
  if (bracket < 0) return [sentName, value]
  const name = sentName.slice(0, bracket)
  const isElement = lists.has(name) && /^\[\d*\]$/.test(sentName.slice(bracket))
  return [name, isElement ? value : bracketed]
}

/** Decodes form-encoded text. The runtime has already replaced raw bytes that are not UTF-8 with U+FFFD. */
function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '))
    return decoded.includes('\uFFFD') ? unreadable : decoded
  } catch {
    return unreadable
  }
}

function toValue(name: string, values: string[]): unknown {
  const [first = '', ...others] = values
  return lists.has(name) || others.length > 0 ? values : toScalar(name, first)
}

function toScalar(name: string, value: string): string | number {
  return integers.has(name) && /^-?\d{1,300}$/.test(value) ? Number(value) : value
}
