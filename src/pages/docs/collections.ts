import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { roots } from '../../http/roots.ts'
import { downloadsFolder } from '../downloads/files.ts'
import type { Json } from './schemas.ts'

/**
 * The collections for partners' HTTP clients (decisions §27). Run in their order against a fresh sandbox with only the
 * key entered, every request succeeds: optional parameters are off, and a request that needs a resource comes after the
 * request that creates it, which keeps the resource's id in a variable of the collection.
 */

/** Collections by file name. */
export type Collections = Record<(typeof collectionNames)[number], string>
export const collectionNames = [
  'partner-interface.postman_collection.json',
  'partner-interface.bruno.json',
] as const

/** Placeholder for the service's address, replaced when a collection is served. */
export const baseUrlPlaceholder = 'http://partner-interface.invalid'

/** Operations that succeed only at certain moments of a certification, which no collection can bring about. */
const leftOut = ['PUT /certifications/:id/state', 'GET /certifications/:id/report']

/**
 * Operations whose order within their folder is not that of the document. They follow the folder's other operations. An
 * operation that creates something comes before the operations that need it.
 */
const lastInFolder = [
  'PUT /integrations/:provider/bookings/consumers/:name',
  'GET /integrations/:provider/bookings/consumers',
  'GET /integrations/:provider/bookings/consumers/:name',
  'DELETE /integrations/:provider/bookings/consumers/:name',
  'PUT /integrations/:provider/messages/consumers/:name',
  'GET /integrations/:provider/messages/consumers',
  'GET /integrations/:provider/messages/consumers/:name',
  'DELETE /integrations/:provider/messages/consumers/:name',
  'POST /webhooks',
  'GET /webhooks',
  'GET /webhooks/:id',
  'PATCH /webhooks/:id',
  'POST /webhooks/:id/secret/rotate',
  'POST /webhooks/:id/test',
  'GET /webhooks/:id/deliveries',
  'POST /webhooks/:id/deliveries/:delivery_id/resend',
  'DELETE /webhooks/:id',
  'PUT /faults',
  'GET /faults',
  'DELETE /faults',
  // A running certification controls the sandbox, so everything else comes before it.
  'POST /certifications',
  'GET /certifications',
  'GET /certifications/:id',
  'DELETE /certifications/:id',
  'DELETE /',
]

/** The variable in which an operation keeps the id of what it created, and where its response has the id. */
const kept: Record<string, { variable: string; from: string[] }> = {
  'POST /bookings': { variable: 'bookingId', from: ['data', 'booking_id'] },
  'POST /webhooks': { variable: 'webhookId', from: ['data', 'id'] },
  'POST /webhooks/:id/test': { variable: 'deliveryId', from: ['data', 'id'] },
  'POST /certifications': { variable: 'certificationId', from: ['data', 'id'] },
}

/** Returns the path parameters of an operation that are variables of the collection. */
function variablesOf(name: string): Record<string, string> {
  if (/^POST \/bookings\/:booking_id\/(confirm|cancel)$/.test(name)) return { booking_id: '{{bookingId}}' }
  if (name.includes('/webhooks/:id')) return { id: '{{webhookId}}', delivery_id: '{{deliveryId}}' }
  if (name.includes('/certifications/:id')) return { id: '{{certificationId}}' }
  return {}
}

/** Puts a folder's operations in the order in which each succeeds. */
function inOrder<T>(items: T[], nameOf: (item: T) => string): T[] {
  const rank = (item: T) => lastInFolder.indexOf(nameOf(item))
  return items
    .filter((item) => !leftOut.includes(nameOf(item)))
    .toSorted((one, other) => rank(one) - rank(other))
}

/**
 * Returns the document with each operation only once. The operations' addresses start with a variable that initially
 * contains the sandbox's address, where every example works. If a partner sets the variable to the live address, the
 * operations run on live data.
 */
function forOneEnvironment(document: Json): Json {
  const entries = Object.entries(document.paths).filter(([path]) => path.startsWith(roots.sandbox))
  const paths = Object.fromEntries(
    entries.map(([path, item]) => [
      path.slice(roots.sandbox.length) || '/',
      withLiveTags(item, document, path),
    ]),
  )
  return { ...document, servers: [{ url: `${baseUrlPlaceholder}${roots.sandbox}` }], paths }
}

function withLiveTags(item: Json, { paths }: Json, path: string): Json {
  const live = paths[path.replace(roots.sandbox, roots.live)] ?? {}
  return Object.fromEntries(
    Object.entries(item as Record<string, Json>).map(([method, operation]) => [
      method,
      { ...operation, ...(live[method] ? { tags: live[method].tags, summary: live[method].summary } : {}) },
    ]),
  )
}

/** Returns the names of the required query parameters of each operation, by the operation's name. */
function requiredQueries({ paths }: Json): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const [path, item] of Object.entries<Json>(paths))
    for (const [method, { parameters }] of Object.entries<Json>(item)) {
      const required = parameters.filter((one: Json) => one.in === 'query' && one.required)
      const name = `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`
      names.set(
        name,
        required.map((one: Json) => one.name),
      )
    }
  return names
}

/** Converts the document to collections with the HTTP clients' own tools. */
export async function makeCollections(document: Json): Promise<Collections> {
  const one = forOneEnvironment(document)
  const required = requiredQueries(one)
  const [postman, bruno] = await Promise.all([toPostman(one), toBruno(one)])
  for (const folder of postman.item) settlePostmanFolder(folder, required)
  postman.variable.push({ key: 'apiKey', value: '', type: 'string' })
  for (const folder of bruno.items) settleBrunoFolder(folder, required)
  const [environment] = bruno.environments
  const secret = { name: 'apiKey', value: '', type: 'text', enabled: true, secret: true }
  environment.name = 'Sandbox'
  environment.variables.push({ ...environment.variables[0], ...secret, uid: 'apiKey000000000000000' })
  return {
    'partner-interface.postman_collection.json': JSON.stringify(postman, null, 2),
    'partner-interface.bruno.json': JSON.stringify(bruno, null, 2),
  }
}

async function toPostman(document: Json): Promise<Json> {
  const { default: converter } = (await import('openapi-to-postmanv2')) as Json
  const options = {
    folderStrategy: 'Tags',
    requestParametersResolution: 'Example',
    exampleParametersResolution: 'Example',
    requestNameSource: 'Fallback',
    includeAuthInfoInExample: false,
  }
  const data = JSON.stringify(document)
  const { promise, resolve, reject } = Promise.withResolvers<Json>()
  converter.convert({ type: 'string', data }, options, (error: Error | null, result: Json) => {
    if (error || !result.result) reject(error ?? new Error(result.reason))
    else resolve(result.output[0].data)
  })
  return promise
}

function settlePostmanFolder(folder: Json, required: Map<string, string[]>): void {
  const nameOf = ({ request }: Json) => `${request.method} /${request.url.path.join('/')}`
  folder.item = inOrder(folder.item as Json[], nameOf)
  for (const item of folder.item) {
    const name = nameOf(item)
    const { url, header } = item.request
    // With an empty path, the address would end in a slash, which is another address (decisions §13).
    if (url.path.join('') === '') delete url.path
    for (const parameter of url.query) parameter.disabled = !required.get(name)?.includes(parameter.key)
    const variables = variablesOf(name)
    for (const variable of url.variable) variable.value = variables[variable.key] ?? variable.value
    for (const one of header) {
      if (isOptionalHeader(one.key)) one.disabled = true
      if (one.key === 'Idempotency-Key') one.value = '{{$guid}}'
    }
    const { variable, from } = kept[name] ?? {}
    const exec = `pm.collectionVariables.set('${variable}', pm.response.json().${from?.join('.')})`
    if (variable) item.event = [{ listen: 'test', script: { type: 'text/javascript', exec: [exec] } }]
  }
}

async function toBruno(document: Json): Promise<Json> {
  const { openApiToBruno } = (await import('@usebruno/converters' as string)) as Json
  return openApiToBruno(document)
}

function settleBrunoFolder(folder: Json, required: Map<string, string[]>): void {
  const nameOf = ({ request }: Json) => `${request.method} ${request.url.replace('{{baseUrl}}', '')}`
  folder.items = inOrder(folder.items as Json[], nameOf)
  for (const [index, item] of folder.items.entries()) {
    const name = nameOf(item)
    item.request.url = item.request.url.replace(/\/$/, '')
    item.seq = index + 1
    const { params, headers, script } = item.request
    const variables = variablesOf(name)
    for (const parameter of params) {
      if (parameter.type === 'query')
        parameter.enabled = required.get(name)?.includes(parameter.name) ?? false
      else parameter.value = variables[parameter.name] ?? parameter.value
    }
    for (const one of headers) {
      if (isOptionalHeader(one.name)) one.enabled = false
      if (one.name === 'Idempotency-Key') one.value = '{{$guid}}'
    }
    // Bruno sends the query of the address, not the list of parameters.
    const query = new URLSearchParams(
      params
        .filter((one: Json) => one.type === 'query' && one.enabled)
        .map(({ name, value }: Json) => [name, value]),
    )
    if (query.size > 0) item.request.url += `?${query}`
    const { variable, from } = kept[name] ?? {}
    if (variable) script.res = `bru.setVar('${variable}', res.body.${from?.join('.')})`
  }
}

/** Returns true for the headers that the document describes and that no request needs. */
function isOptionalHeader(name: string): boolean {
  return ['Idempotency-Key', 'If-None-Match', 'Prefer'].includes(name)
}

/**
 * Loads the collections that the build produced. If any is missing, generates all of them with the HTTP clients' tools.
 */
export async function loadCollections(document: () => Json, publicUrl: string): Promise<Collections> {
  const stored = await Promise.all(
    collectionNames.map(async (name) => [name, await readFile(join(downloadsFolder, name), 'utf8')]),
  ).catch(() => null)
  const collections = stored ? (Object.fromEntries(stored) as Collections) : await makeCollections(document())
  return Object.fromEntries(
    Object.entries(collections).map(([name, text]) => [name, text.replaceAll(baseUrlPlaceholder, publicUrl)]),
  ) as Collections
}
