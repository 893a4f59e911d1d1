import { readFileSync } from 'node:fs'
import { toOpenAPISchema } from '@elysiajs/openapi/openapi'
import type { AnyElysia } from 'elysia'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import { supportedProvider } from '../http/provider.ts'
import { roots, splitRoot } from '../http/roots.ts'
import { type FormatName, formats } from '../schema/formats.ts'
import { exampleError, exampleRequests, exampleResponses, type FailureKind } from './examples.ts'

// biome-ignore lint/suspicious/noExplicitAny: OpenAPI fragments are plain trees of JSON
type Json = any

const guides = readFileSync(new URL('guides.md', import.meta.url), 'utf8')

/** Keywords of our own in schemas, which mean nothing to other tools. */
const ownKeywords = new Set([
  'readAs',
  'respondsAs',
  'errorCode',
  'belowMinimum',
  'trims',
  'whenBlank',
  'namesElements',
])

/**
 * The OpenAPI document of all routes: from the same schemas that check requests and responses, with the examples of
 * `examples.ts` and, for each operation, every error it can respond with.
 */
export function openApiDocument(app: AnyElysia, config: Config) {
  const { paths } = toOpenAPISchema(app)
  const bodies = bodySchemas(app)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Partner interface',
      version: packageJson.version,
      description: guides.replaceAll('{base}', config.publicUrl),
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: config.publicUrl, description: 'This service' }],
    tags: tagsOf(paths),
    paths: mapValues(paths as Json, (item, path) =>
      mapValues(item, (operation, method) =>
        documentOperation(method.toUpperCase(), path, operation, bodies),
      ),
    ),
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['type', 'message', 'errors'],
      properties: {
        type: { type: 'string' },
        message: { type: 'string' },
        request_id: { type: 'string' },
        errors: {
          type: 'array',
          items: {
            type: 'object',
            required: ['path', 'code', 'message'],
            properties: { path: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
          },
        },
      },
    },
  },
}

/** Body schemas by operation: the generator omits them when a route reads its body itself. */
function bodySchemas(app: AnyElysia): Map<string, Json> {
  return new Map(
    app.routes.map(({ method, path, hooks }) => [
      `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
      hooks?.body,
    ]),
  )
}

function documentOperation(
  method: string,
  fullPath: string,
  operation: Json,
  bodies: Map<string, Json>,
): Json {
  const { environment, rest: path } = splitRoot(fullPath)
  const name = `${method} ${path}`
  const isSandbox = environment === 'sandbox'
  const { requestBody, parameters, 'x-errors': _, ...rest } = operation
  return forReaders({
    ...rest,
    tags: isSandbox ? ['Sandbox'] : operation.tags,
    summary: isSandbox ? `${operation.summary} (sandbox)` : operation.summary,
    description: descriptionOf(operation, isSandbox),
    parameters: [...pathParameters(path), ...(parameters ?? []).filter((one: Json) => one.in !== 'path')],
    ...(requestBody
      ? { requestBody: documentBody(bodies.get(`${method} ${fullPath}`), exampleRequests[name]) }
      : {}),
    responses: {
      ...documentResponses(operation, name, isSandbox),
      ...documentErrors(errorsOf(operation)),
    },
  })
}

function takesIdempotencyKey(operation: Json): boolean {
  return (operation.parameters ?? []).some((one: Json) => one.name === 'Idempotency-Key')
}

function descriptionOf(operation: Json, isSandbox: boolean): string {
  const permission = operation['x-permission']
  const needed = permission === 'any' ? 'Any key may call it.' : `Permission: \`${permission}\`.`
  const where = isSandbox ? ' Works on the mock data of the calling key; nothing here touches live data.' : ''
  const retry = takesIdempotencyKey(operation) ? ' Safe to retry with `Idempotency-Key`.' : ''
  return [operation.description, `${needed}${retry}${where}`].filter(Boolean).join('\n\n')
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema:
      name === 'provider' ? { type: 'string', enum: [supportedProvider] } : { type: 'integer', minimum: 1 },
  }))
}

function documentBody(schema: Json, example: unknown): Json {
  return { required: true, content: { 'application/json': { schema, example } } }
}

function documentResponses(operation: Json, name: string, isSandbox: boolean): Json {
  const headers = takesIdempotencyKey(operation)
    ? { ...responseHeaders, ...headersOf('Idempotent-Replayed') }
    : responseHeaders
  return mapValues(operation.responses, ({ content }, status) => {
    const recorded = exampleResponses[name]
    const example =
      recorded && String(recorded.status) === status
        ? { example: inEnvironment(recorded.body, isSandbox) }
        : {}
    return {
      description: 'Success',
      headers,
      content: { 'application/json': { ...content['application/json'], ...example } },
    }
  })
}

function inEnvironment(body: Json, isSandbox: boolean): Json {
  return isSandbox ? { ...body, meta: { ...body.meta, sandbox: true } } : body
}

/** What a route declares, what follows from its query, and our own failure. */
function errorsOf({ parameters = [], 'x-errors': declared }: Json): FailureKind[] {
  const takesQuery = parameters.some((one: Json) => one.in === 'query')
  return [
    ...new Set<FailureKind>([...declared, ...(takesQuery ? (['validation'] as const) : []), 'internal']),
  ]
}

const headerSchemas = {
  'X-Request-Id': {
    description: 'Id of this request; the body of a replay has the id of the first request',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'Limit of the key: `q` requests in `w` seconds',
    schema: { type: 'string' },
    example: '"default";q=60;w=60',
  },
  RateLimit: {
    description: 'What remains: `r` requests, and `t` seconds until the window is free again',
    schema: { type: 'string' },
    example: '"default";r=59;t=60',
  },
  'Retry-After': {
    description: 'Seconds to wait before the same request is worth sending again',
    schema: { type: 'integer', minimum: 1 },
  },
  'Idempotent-Replayed': {
    description:
      '`true` when this is the stored response of an earlier request with the same `Idempotency-Key`',
    schema: { type: 'string', enum: ['true'] },
  },
} as const

function headersOf(...names: (keyof typeof headerSchemas)[]): Json {
  return Object.fromEntries(names.map((name) => [name, headerSchemas[name]]))
}

const responseHeaders = headersOf('X-Request-Id', 'RateLimit-Policy', 'RateLimit')

/** Headers of an error: an unknown key has no limit yet, and only some errors are worth a retry. */
function errorHeaders(status: string): Json {
  const passing = ['409', '429', '500'].includes(status) ? headersOf('Retry-After') : {}
  return status === '401' ? headersOf('X-Request-Id') : { ...responseHeaders, ...passing }
}

function documentErrors(kinds: FailureKind[]): Json {
  const byStatus = Map.groupBy(kinds, (kind) => exampleError(kind).status)
  return Object.fromEntries(
    [...byStatus].map(([status, sameStatus]) => {
      const examples = Object.fromEntries(
        sameStatus.map((kind) => [kind, { value: exampleError(kind).body }]),
      )
      const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } }
      return [
        status,
        {
          description: sameStatus.map((kind) => kind.replaceAll('_', ' ')).join(', or '),
          headers: errorHeaders(String(status)),
          content,
        },
      ]
    }),
  )
}

function tagsOf(paths: Json): { name: string; description: string }[] {
  const live = Object.entries(paths).filter(([path]) => path.startsWith(roots.live))
  const names = live.flatMap(([, item]) => Object.values(item as Json).flatMap(({ tags }: Json) => tags))
  const described = [...new Set(names)].map((name) => ({
    name,
    description: `${name} of the host that the key belongs to`,
  }))
  return [
    ...described,
    { name: 'Sandbox', description: 'The same operations on mock data, where nothing can be harmed' },
  ]
}

function mapValues(object: Json, map: (value: Json, key: string) => Json): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}

/** A schema for other tools: our formats become patterns, and our keywords are omitted. */
function forReaders(value: Json): Json {
  if (Array.isArray(value)) return value.map(forReaders)
  if (typeof value !== 'object' || value === null) return value
  const { format, ...rest } = value
  const isOurs = value.type === 'string' && format in formats
  const shown = isOurs ? { ...rest, ...documentedFormat(value) } : value
  return Object.fromEntries(
    Object.entries(shown).flatMap(([key, child]) => (ownKeywords.has(key) ? [] : [[key, forReaders(child)]])),
  )
}

const notBlankText = String.raw`^[^\u0000]*[^\s\u0000][^\u0000]*$`

function documentedFormat({ format, whenBlank }: Json): { format?: string; pattern?: string } {
  if (format === 'text' && whenBlank) return { pattern: notBlankText }
  return formats[format as FormatName].documented
}
