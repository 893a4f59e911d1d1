import { UsageError } from '../shared/errors.ts'
import { keepFromProxy } from './proxy.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents are plain JSON trees
export type Json = any

const timeoutMilliseconds = 30_000

/** The metadata of this program's package (decisions §30). */
export const packagePath = '/npm/@partner-interface/partnerctl'

/**
 * Requests an OpenAPI document or the metadata of this program's package, which need no key.
 *
 * @throws UsageError unless the service at `base` sends it
 */
export async function fetchDocument(
  base: string,
  path: `/openapi${string}.json` | typeof packagePath,
): Promise<Json> {
  keepFromProxy(base)
  try {
    const signal = AbortSignal.timeout(timeoutMilliseconds)
    const response = await fetch(`${base}${path}`, { redirect: 'manual', signal })
    return JSON.parse(await response.text())
  } catch (cause) {
    throw new UsageError(`Cannot read ${base}${path}; check PARTNER_BASE_URL`, { cause })
  }
}
