import type { RequestSchema } from './schema/fields.ts'
import { bracketed, unreadable } from './schema/unreadable.ts'

/** Names of the query parameters that a route reads as something other than text. */
export interface QueryForm {
  integers: ReadonlySet<string>
  lists: ReadonlySet<string>
}

/** Returns the form of the queries that a schema describes; all parameters are text if there is no schema. */
export function queryFormOf(schema: RequestSchema | undefined): QueryForm {
  const properties = Object.entries(schema?.properties ?? {})
  const namesOf = (type: string) =>
    new Set(properties.filter(([, property]) => property.type === type).map(([name]) => name))
  return { integers: namesOf('integer'), lists: namesOf('array') }
}

/**
 * Returns a request's query as an object. A list parameter is always an array, whether it is sent once, repeatedly, as
 * `key[]` or as `key[0]`, and each value may be several words with commas between them. Equal words count once. Any other
 * repeated parameter also becomes an array, which then fails validation, and so does a parameter with any other bracket
 * or with text that is not UTF-8. Integers become numbers in the parameters that the route reads as integers; all other
 * values stay strings.
 */
export function readQuery(url: string, form: QueryForm): Record<string, unknown> {
  const start = url.indexOf('?')
  if (start < 0) return {}
  // The arrays grow in place, so thousands of repeated parameters cost no more than thousands of distinct ones.
  const sent = new Map<string, string[]>()
  for (const pair of url.slice(start + 1).split('&')) {
    const [name, value] = readParameter(pair, form)
    const values = sent.get(name) ?? []
    values.push(value)
    sent.set(name, values)
  }
  sent.delete('__proto__')
  return Object.fromEntries([...sent].map(([name, values]) => [name, toValue(name, values, form)]))
}

/** Returns a parameter's name without brackets, and its value. */
function readParameter(pair: string, { lists }: QueryForm): [name: string, value: string] {
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

/**
 * Decodes form-encoded text. Raw bytes that are not UTF-8 cannot be told from U+FFFD, which is valid text, because the
 * HTTP server has already replaced them with `%EF%BF%BD` (decisions §1).
 */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return unreadable
  }
}

function toValue(name: string, values: string[], { integers, lists }: QueryForm): unknown {
  if (lists.has(name)) return wordsOf(values)
  const [first = '', ...others] = values
  if (others.length > 0) return values
  return integers.has(name) && /^-?\d{1,300}$/.test(first) ? Number(first) : first
}

/** Returns the words of a list parameter, each once. Generated clients send several words in one value. */
function wordsOf(values: string[]): string[] {
  return [...new Set(values.flatMap((value) => value.split(',')))]
}
