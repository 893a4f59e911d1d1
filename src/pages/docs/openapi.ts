import type { AnyElysia } from 'elysia'
import packageJson from '../../../package.json' with { type: 'json' }
import type { Config } from '../../core/config.ts'
import type { ErrorKind } from '../../core/errors.ts'
import { supportedProvider } from '../../http/input/provider.ts'
import { splitRoot } from '../../http/roots.ts'
import { exampleIds, exampleRequests, exampleResponses, sandboxIds } from './examples.ts'
import { hints } from './hints.ts'
import {
  documentErrors,
  documentSuccess,
  errorSchema,
  headers,
  notModified,
  problemSchema,
} from './responses.ts'
import { type Components, documentSchema, type Json, mapValues } from './schemas.ts'

/** Returns the text shown above the operations. */
const introduction = (
  base: string,
) => `Every operation with its fields, its errors and samples. The [guide](${base}/guide) shows how to build an integration, from the first booking to the certification.

- Send the key as \`X-API-Key\`. To try an operation here, enter the key under **Authentication**, open the operation under **Sandbox** and press **Test Request**.
- Every operation below \`/v1\` also exists below \`/sandbox\`, on mock data.
- Each error is explained in the [guide](${base}/guide/errors).
- Downloads: the [client](${base}/guide/client), the [command line](${base}/guide/command-line#get-it), a [Postman collection](${base}/docs/partner-interface.postman_collection.json), a [Bruno collection](${base}/docs/partner-interface.bruno.json), this [OpenAPI document](${base}/openapi.json), and the [changelog](${base}/docs/changelog).`

/**
 * Builds the OpenAPI document of all routes from the schemas that check requests and responses and from the examples in
 * `examples.ts`. Each operation lists every error that it can return.
 */
export function openApiDocument(app: AnyElysia, config: Config) {
  const components: Components = new Map<string, Json>([
    ['Error', errorSchema],
    ['Problem', problemSchema],
  ])
  const paths: Json = {}
  for (const route of app.routes) {
    if (!route.hooks?.detail?.['x-errors']) continue
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: documentRoute(route, path, components) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Partner interface',
      version: packageJson.version,
      description: introduction(config.publicUrl),
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: config.publicUrl, description: 'This service' }],
    tags,
    paths,
    webhooks: hints,
    components: {
      schemas: Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
      headers,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'API key of your host account',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same API key, sent as a bearer token' },
      },
    },
  }
}

function documentRoute({ method, hooks }: Json, fullPath: string, components: Components): Json {
  const { environment, rest: path } = splitRoot(fullPath)
  const isSandbox = environment === 'sandbox'
  const name = `${method} ${path}`
  const {
    'x-errors': declared,
    'x-permission': permission,
    // Only the tests read the limit.
    'x-limit': _,
    'x-body': body,
    'x-opens-sandbox': opensSandbox,
    'x-meets-faults': canMeetFaults,
    schemas,
    ...detail
  } = hooks.detail
  const document = (schema: Json) => documentSchema(schema, components)
  const query = schemas.query ? queryParameters(document(schemas.query)) : []
  const takes = (header: string) => (detail.parameters ?? []).some(({ name }: Json) => name === header)
  const isIdempotent = takes('Idempotency-Key')
  const isConditional = takes('If-None-Match')
  const takesPreference = takes('Prefer')
  const meetsFaults = isSandbox && canMeetFaults
  const success = { isIdempotent, isConditional, takesPreference, meetsFaults }
  const kinds = errorsOf(declared, query.length > 0, isSandbox && opensSandbox)
  return {
    ...detail,
    operationId: isSandbox ? inSandbox(detail.operationId) : detail.operationId,
    tags: isSandbox ? ['Sandbox'] : detail.tags,
    summary: isSandbox ? `${detail.summary} (sandbox)` : detail.summary,
    description: descriptionOf(detail.description, permission, isIdempotent, isSandbox),
    'x-permission': permission,
    parameters: [...pathParameters(path), ...query, ...(detail.parameters ?? [])],
    ...(schemas.body
      ? { requestBody: requestBody(document(schemas.body), exampleRequests[name], body !== 'optional') }
      : {}),
    responses: {
      ...mapValues(schemas.response, (schema, status) =>
        documentSuccess(document(schema), exampleOf(name, status, isSandbox), success),
      ),
      ...(isConditional ? { 304: notModified(meetsFaults) } : {}),
      ...documentErrors(kinds, { operation: name, permission, takesPreference, meetsFaults }),
    },
  }
}

/** Returns an operation id for use below `/sandbox`: `createUser` becomes `sandboxCreateUser`. */
function inSandbox(operationId: string): string {
  if (/sandbox/i.test(operationId)) return operationId
  return `sandbox${operationId[0]?.toUpperCase()}${operationId.slice(1)}`
}

/**
 * Returns a route's declared errors, the errors that its query or filling the sandbox can cause, and `internal`.
 * Filling the sandbox causes a `conflict` if the sandbox was cleared too often or a certification is running in it.
 */
function errorsOf(declared: ErrorKind[], takesQuery: boolean, fillsSandbox: boolean): ErrorKind[] {
  return [
    ...declared,
    ...(takesQuery ? (['validation'] as const) : []),
    ...(fillsSandbox ? (['conflict'] as const) : []),
    'internal',
  ]
}

function descriptionOf(
  own: string | undefined,
  permission: string,
  isIdempotent: boolean,
  isSandbox: boolean,
): string {
  const needed = permission === 'any' ? 'Any key may call this endpoint.' : `Permission: \`${permission}\`.`
  const where = isSandbox ? " Operates on the calling key's mock data and never touches live data." : ''
  const retry = isIdempotent ? ' Safe to retry with `Idempotency-Key`.' : ''
  return [own, `${needed}${retry}${where}`].filter(Boolean).join('\n\n')
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/(\w+)\/\{(\w+)\}/g)].map(([, collection = '', name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...pathParameter(name, collection),
  }))
}

function pathParameter(name: string, collection: string): Json {
  if (name === 'provider')
    return {
      description: `Integration provider; currently only \`${supportedProvider}\``,
      schema: { type: 'string', enum: [supportedProvider] },
      example: supportedProvider,
    }
  const made = exampleIds[collection]
  if (made !== undefined)
    return {
      description: `Id of one of the ${collection}, as returned by \`GET\``,
      schema: typeof made === 'number' ? { type: 'integer', minimum: 1 } : { type: 'string' },
      example: made,
    }
  const example = sandboxIds[collection]
  if (typeof example === 'string')
    return { description: `Name of one of the ${collection}`, schema: { type: 'string' }, example }
  const owner = name === 'room_id' ? 'the room' : `one of the ${collection}`
  const description = `Id of ${owner}; the example exists in the sandbox`
  return { description, schema: { type: 'integer', minimum: 1 }, example }
}

function queryParameters({ properties, required = [] }: Json): Json[] {
  return Object.entries(properties as Json).map(([name, property]) => {
    const { description, example, ...schema } = property as Json
    return {
      name,
      in: 'query',
      required: required.includes(name),
      description,
      schema,
      ...(example === undefined ? {} : { example }),
    }
  })
}

function requestBody(schema: Json, example: unknown, required: boolean): Json {
  return {
    required,
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  }
}

function exampleOf(name: string, status: string, isSandbox: boolean): unknown {
  const recorded = exampleResponses[name]
  const body = recorded?.body as Json
  // Only the creation of a listing is recorded. An update's response differs only in its status and its `action`.
  const isUpdate = status === '200' && body?.action === 'created'
  if (!isUpdate && String(recorded?.status) !== status) return undefined
  return {
    ...body,
    ...(isUpdate ? { action: 'updated' } : {}),
    ...(isSandbox ? { meta: { ...body.meta, sandbox: true } } : {}),
  }
}

/** The groups of operations, in the order in which a partner encounters them. */
export const tags = [
  { name: 'Host', description: 'The host account that the key acts for' },
  { name: 'Key', description: 'Permissions of the key and what remains of its rate limit' },
  { name: 'Health', description: 'Whether the integration is quiet or broken' },
  { name: 'Users', description: "The host's guests, who are created once and then make bookings" },
  {
    name: 'Listings',
    description: "The host's properties, with their room types, prices, texts and pictures",
  },
  { name: 'Availability', description: 'Number of available units per room type and day' },
  {
    name: 'Calendars',
    description:
      'iCalendar files of rooms, which the service reads so that nights sold elsewhere are not sold here',
  },
  { name: 'Rates', description: 'Monthly prices of room types, pushed in bulk' },
  { name: 'Bookings', description: "Users' stays in room types" },
  { name: 'Booking feed', description: 'New and changed bookings, polled without missing any' },
  {
    name: 'Consumers',
    description: 'Named feed positions, stored by the service for pollers without a disk',
  },
  { name: 'Webhooks', description: 'Hints sent in addition to the feeds, and the outcome of each delivery' },
  { name: 'Messages', description: "Conversation with a booking's guest" },
  { name: 'Provider key', description: "The host's own key for the integration provider" },
  { name: 'Sandbox', description: 'The same operations on mock data, without any effect on live data' },
]
