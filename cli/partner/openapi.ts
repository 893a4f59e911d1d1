import { describeNetworkError } from '../../client/src/index.ts'
import { UsageError } from '../shared/errors.ts'
import { parseJson } from '../shared/values.ts'
import { keepFromProxy } from './proxy.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents are plain JSON trees
export type Json = any

const timeoutMilliseconds = 30_000

/**
 * Requests an OpenAPI document, which needs no key.
 *
 * @throws UsageError unless the service at `base` sends it
 */
export async function fetchDocument(base: string, path: `/openapi${string}.json`): Promise<Json> {
  const address = `${base}${path}`
  const document = parseJson(await fetchText(address))
  if (document === undefined)
    throw new UsageError(`Cannot read ${address}: the response is not JSON; check PARTNER_BASE_URL`)
  return document
}

/**
 * Requests a text of the service, which needs no key.
 *
 * @throws UsageError unless the address sends it
 */
export async function fetchText(address: string, stop?: AbortSignal): Promise<string> {
  keepFromProxy(address)
  return readAddress(address, stop).catch((cause) => {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`Cannot read ${address}: ${describeNetworkError(cause)}; check PARTNER_BASE_URL`)
  })
}

async function readAddress(address: string, stop: AbortSignal | undefined): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMilliseconds)
  const signal = stop ? AbortSignal.any([stop, timeout]) : timeout
  const response = await fetch(address, { redirect: 'manual', signal })
  const text = await response.text()
  if (!response.ok) throw new UsageError(`Cannot read ${address}: the response is ${response.status}`)
  return text
}
