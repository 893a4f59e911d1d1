import { roots, splitRoot } from '../../http/roots.ts'
import { type Json, mapValues } from './schemas.ts'

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

/** Returns an OpenAPI document's operations. Operations that exist in both environments are returned only once. */
export function listOperations({ paths }: Json): Operation[] {
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

/** Returns an operation's full path, which is below `/sandbox` if only the sandbox has the operation. */
export function pathOf({ isLive, path }: Operation): string {
  return `${isLive ? roots.live : roots.sandbox}${path}`
}

const introduction =
  'Paths below `/v1` also exist below `/sandbox`, on mock data. The key: `X-API-Key`. Errors: `/guide/errors.md`. Common headers and error bodies: `/openapi.json`.'

/**
 * Returns an OpenAPI document for one operation, with only the components that the operation refers to. The document
 * omits the parts that most operations share: response headers, error bodies, and the `Prefer` header.
 */
export function singleOperation(document: Json, operation: Operation): Json {
  const {
    tags: _,
    security: __,
    'x-permission': ___,
    parameters,
    responses,
    ...described
  } = operation.described
  const own = {
    ...described,
    parameters: parameters.filter(({ name }: Json) => name !== 'Prefer'),
    responses: mapValues(responses, ({ headers: _, content, ...response }, status) =>
      status < '300' && content ? { ...response, content } : response,
    ),
  }
  const { openapi, info, servers, components } = document
  const schemas = referredTo(own, components.schemas, new Map())
  return {
    openapi,
    info: { title: operation.summary, version: info.version, description: introduction },
    servers,
    paths: { [pathOf(operation)]: { [operation.method.toLowerCase()]: own } },
    components: { schemas: Object.fromEntries(schemas) },
  }
}

/** Adds the schemas that a part of the document refers to, directly or indirectly, to `found`, and returns `found`. */
function referredTo(part: Json, schemas: Json, found: Map<string, Json>): Map<string, Json> {
  if (typeof part !== 'object' || part === null) return found
  const name = part.$ref?.split('/').at(-1)
  if (name && !found.has(name)) referredTo(schemas[name], schemas, found.set(name, schemas[name]))
  for (const child of Object.values(part)) referredTo(child, schemas, found)
  return found
}
