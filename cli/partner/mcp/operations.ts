import { supportedProvider } from '../../../src/http/paths.ts'
import { listOperations, type Operation } from '../../../src/pages/docs/operations.ts'
import type { Json } from '../../../src/pages/docs/schemas.ts'
import { UsageError } from '../../shared/errors.ts'

/** A service's operations and the OpenAPI document that describes them. */
export interface Catalogue {
  document: Json
  operations: Operation[]
}

/** @throws UsageError unless the service at `base` sends its OpenAPI document, which needs no key */
export async function fetchCatalogue(base: string): Promise<Catalogue> {
  try {
    const response = await fetch(`${base}/openapi.json`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    })
    const document: Json = JSON.parse(await response.text())
    return { document, operations: listOperations(document) }
  } catch (cause) {
    throw new UsageError(`Cannot read ${base}/openapi.json; check PARTNER_BASE_URL`, { cause })
  }
}

/**
 * Splits an operation's input into path, query and body.
 *
 * @throws UsageError if a path parameter is missing or a name is unknown
 */
export function splitInput({ id, path, described }: Operation, input: Record<string, unknown>) {
  const { provider = supportedProvider, ...given } = input
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = name === 'provider' ? provider : given[name]
    if (value === undefined) throw new UsageError(`"${name}" of ${id} is missing`)
    return encodeURIComponent(`${value}`)
  })
  const others = Object.entries(given).filter(([name]) => !path.includes(`{${name}}`))
  const isQuery = ([name]: [string, unknown]) =>
    described.parameters.some((one: Json) => one.in === 'query' && one.name === name)
  const query = others.filter(isQuery).map(([name, value]) => [name, `${value}`])
  const rest = others.filter((one) => !isQuery(one))
  if (rest[0] && !described.requestBody) throw new UsageError(`"${rest[0][0]}" is unknown to ${id}`)
  const body = described.requestBody ? { body: Object.fromEntries(rest) } : {}
  return { path: filled, query: Object.fromEntries(query), ...body }
}
