import { roots, splitRoot } from '../../http/roots.ts'
import { findClientMethods, requestName } from './client-methods.ts'
import { type Json, mapValues } from './schemas.ts'

/**
 * Returns the OpenAPI document with samples for each operation (`x-codeSamples`), generated from the document's
 * examples. All samples run in the sandbox, where the examples' ids exist (decisions §27).
 */
export async function withSamples(document: Json): Promise<Json> {
  const clientMethods = await findClientMethods()
  const paths = mapValues(document.paths, (item, path) =>
    mapValues(item, (operation, method) => ({
      ...operation,
      'x-codeSamples': samplesOf(
        toCall(method.toUpperCase(), path, operation),
        splitRoot(path).environment === 'live',
        clientMethods.get(requestName(method.toUpperCase(), splitRoot(path).rest)),
      ),
    })),
  )
  return { ...document, paths }
}

/** The sandbox request that each of an operation's samples sends. */
interface Call {
  method: string
  /** Path and query in the sandbox. */
  address: string
  /** Values of the path parameters, except the provider. */
  ids: (number | string)[]
  /** Required query parameters. */
  query: Record<string, string>
  body: Json
  idempotencyKey: string | undefined
}

/** @param clientMethod path of the client's method, such as `users.create`; undefined if the client lacks one */
function samplesOf(call: Call, isLive: boolean, clientMethod: string | undefined) {
  const hint = (mark: string, live: string) =>
    isLive ? `${mark} In the sandbox; for live data ${live}\n` : ''
  const otherPath = 'use /v1 instead of /sandbox'
  const samples = [{ lang: 'bash', label: 'curl', source: hint('#', otherPath) + toCurl(call) }]
  if (clientMethod !== undefined) {
    const source = hint('//', 'omit `sandbox: true`') + toJavaScript(call, clientMethod)
    samples.push({ lang: 'js', label: 'JavaScript', source })
  }
  samples.push({ lang: 'python', label: 'Python', source: hint('#', otherPath) + toPython(call) })
  return samples
}

function toCall(method: string, path: string, { operationId, parameters, requestBody }: Json): Call {
  const own: string = operationId.replace(/^sandbox(.)/, (_: string, first: string) => first.toLowerCase())
  const inPath: Json[] = parameters.filter((one: Json) => one.in === 'path')
  const required: Json[] = parameters.filter((one: Json) => one.in === 'query' && one.required)
  const query = Object.fromEntries(required.map(({ name, example }) => [name, example]))
  const filled = inPath.reduce((text, { name, example }) => text.replace(`{${name}}`, example), path)
  const search = required.length > 0 ? `?${new URLSearchParams(query)}` : ''
  const takesKey = parameters.some(({ name }: Json) => name === 'Idempotency-Key')
  return {
    method,
    query,
    address: `${roots.sandbox}${splitRoot(filled).rest}${search}`,
    ids: inPath.filter(({ name }) => name !== 'provider').map(({ example }) => example),
    body: requestBody?.content['application/json'].example,
    idempotencyKey: takesKey
      ? `${own.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-1`
      : undefined,
  }
}

function toCurl({ method, address, body, idempotencyKey }: Call): string {
  const data = JSON.stringify(body, null, 2)?.replaceAll("'", String.raw`'\''`)
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$PARTNER_BASE_URL${address}"`,
    '-H "X-API-Key: $PARTNER_API_KEY"',
    ...(data ? ["-H 'Content-Type: application/json'"] : []),
    ...(idempotencyKey ? [`-H 'Idempotency-Key: ${idempotencyKey}'`] : []),
    ...(data ? [`-d '${data}'`] : []),
  ]
  return lines.join(' \\\n  ')
}

function toJavaScript({ method, ids, query, body, idempotencyKey }: Call, clientMethod: string): string {
  const sent = clientMethod === 'bookings.confirm' ? undefined : unwrap(body)
  const values = [
    ...ids,
    ...(Object.keys(query).length > 0 ? [query] : []),
    ...(sent === undefined ? [] : [sent]),
  ]
  const options = idempotencyKey ? [`{ idempotencyKey: '${idempotencyKey}' }`] : []
  const called = `client.${clientMethod}(${[...values.map(javaScriptOf), ...options].join(', ')})`
  const printed = method === 'DELETE' ? `await ${called}` : `console.log(await ${called})`
  const isFeed = clientMethod.endsWith('.feed')
  return `import { createClient } from '@partner-interface/client'

const client = createClient({
  key: process.env.PARTNER_API_KEY,
  baseUrl: process.env.PARTNER_BASE_URL,
  sandbox: true,
})
${isFeed ? `for await (const change of ${called}) console.log(change)` : printed}
`
}

/**
 * Returns the argument to pass to the client's method for a request body. For some bodies, this is the value of the
 * only field.
 */
function unwrap(body: Json): Json {
  const [[name, value] = [], ...others] = Object.entries<Json>(body ?? {})
  if (name === 'message') return value.text
  const isWrapped =
    others.length === 0 && ['data', 'rules', 'advance_seconds', 'bookings'].includes(name ?? '')
  return isWrapped ? value : body
}

/** A whole string in JSON, so that the quote that ends one never counts as the beginning of another. */
const jsonString = /"((?:[^"\\]|\\.)*)"/g

/** Returns a JSON string in single quotes, unless it has characters that would have to be written otherwise there. */
function inSingleQuotes(quoted: string, text: string): string {
  return /[\\']/.test(text) ? quoted : `'${text}'`
}

function javaScriptOf(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replace(/^(\s*)"(\w+)":/gm, '$1$2:')
    .replace(jsonString, inSingleQuotes)
}

function toPython({ method, address, body, idempotencyKey }: Call): string {
  const headers = [
    "'X-API-Key': os.environ['PARTNER_API_KEY']",
    ...(body ? ["'Content-Type': 'application/json'"] : []),
    ...(idempotencyKey ? [`'Idempotency-Key': '${idempotencyKey}'`] : []),
  ]
  return `import json, os, urllib.request

request = urllib.request.Request(
    os.environ['PARTNER_BASE_URL'] + '${address}',
    method='${method}',
    headers={
${headers.map((header) => `        ${header},`).join('\n')}
    },
${body ? `    data=json.dumps(${pythonOf(body)}).encode(),\n` : ''})
print(json.load(urllib.request.urlopen(request)))
`
}

const pythonWords = { null: 'None', true: 'True', false: 'False' }

function pythonOf(value: unknown): string {
  return JSON.stringify(value, null, 4)
    .replace(/: (null|true|false)(?=,?$)/gm, (_, word: keyof typeof pythonWords) => `: ${pythonWords[word]}`)
    .replace(jsonString, inSingleQuotes)
    .replaceAll('\n', '\n    ')
}
