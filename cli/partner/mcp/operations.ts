import type { RequestOptions } from '../../../client/src/index.ts'
import { UsageError } from '../../shared/errors.ts'
import { parseJson } from '../../shared/values.ts'
import { fetchDocument, type Json } from '../openapi.ts'
import { roots, splitRoot, supportedProvider } from '../service.ts'
import { describeValue } from './arguments.ts'

/** An operation in one or both environments. `id` and `summary` are those of the live operation if there is one. */
export interface Operation {
  id: string
  method: string
  /** Path below `/v1` or `/sandbox`. */
  path: string
  isLive: boolean
  summary: string
  /** The operation object from the OpenAPI document. */
  described: Json
}

/** @throws UsageError unless the service at `base` sends its OpenAPI document */
export async function fetchOperations(base: string): Promise<Operation[]> {
  return listOperations(await fetchDocument(base, '/openapi.json'))
}

/** Returns an OpenAPI document's operations. Operations that exist in both environments are returned only once. */
function listOperations({ paths }: Json): Operation[] {
  const operations: Operation[] = []
  for (const [fullPath, methods] of Object.entries<Json>(paths)) {
    const { environment, rest: path } = splitRoot(fullPath)
    const isLive = environment === 'live'
    for (const [method, described] of Object.entries<Json>(methods)) {
      if (!isLive && paths[`${roots.live}${path}`]?.[method]) continue
      const { operationId: id, summary } = described
      operations.push({ id, method: method.toUpperCase(), path, isLive, summary, described })
    }
  }
  return operations
}

/**
 * Splits an operation's input into path, query and body.
 *
 * @throws UsageError if a path parameter is missing or a name is unknown
 */
export function splitInput({ id, path, described }: Operation, input: Record<string, unknown>) {
  const { provider, ...given } = input
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = name === 'provider' ? (provider ?? supportedProvider) : given[name]
    if (typeof value === 'object' && value !== null)
      throw new UsageError(`"${name}" of ${id}: send a string or a number, not ${describeValue(value)}`)
    // Without a last segment, the path would be that of another operation.
    if (value === undefined || value === null || value === '')
      throw new UsageError(`"${name}" of ${id} is missing`)
    return encodeURIComponent(`${value}`)
  })
  const others = Object.entries(given).filter(([name]) => !path.includes(`{${name}}`))
  const schemas = new Map<string, Json>()
  for (const { in: place, name, schema } of described.parameters)
    if (place === 'query') schemas.set(name, schema)
  const query = others
    .filter(([name]) => schemas.has(name))
    .map(([name, value]) => [name, queryValue(name, value, schemas.get(name))])
  const rest = others.filter(([name]) => !schemas.has(name))
  if (rest[0] && !described.requestBody) throw new UsageError(`"${rest[0][0]}" is unknown to ${id}`)
  const body = described.requestBody ? { body: Object.fromEntries(rest) } : {}
  return { path: filled, query: Object.fromEntries(query), ...body }
}

type QueryValue = NonNullable<RequestOptions['query']>[string]

/**
 * Returns a value for the query: a list becomes a repeated parameter, and null is left out (decisions §27). Where the
 * schema wants a list, it may have been sent as its JSON text, because some agents do that.
 *
 * @throws UsageError for an object, which a query cannot have
 */
function queryValue(name: string, value: unknown, schema: Json): QueryValue {
  const mayBeList = schema?.type === 'array' && typeof value === 'string'
  const parsed = mayBeList ? parseJson(value) : undefined
  const given = Array.isArray(parsed) ? parsed : value
  for (const one of [given].flat())
    if (typeof one === 'object' && one !== null)
      throw new UsageError(`"${name}": send a string, a number or a list of them, not ${describeValue(one)}`)
  return given as QueryValue
}
