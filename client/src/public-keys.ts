import { ConnectionError } from './errors.ts'
import { describeNetworkError } from './network-cause.ts'

const timeoutMs = 30_000
const maxBytes = 64 * 1024

/**
 * Fetches the public keys that verify a service's certification reports. No API key is needed. Redirects are not
 * followed, so the keys can only come from this address.
 *
 * @param baseUrl address of the service
 * @returns the JSON Web Key Set as the service sent it, not validated
 * @throws ConnectionError unless the service sends JSON of at most 64 KiB within 30 seconds
 */
export async function fetchPublicKeys(baseUrl: string): Promise<unknown> {
  const address = `${baseUrl.replace(/\/+$/, '')}/.well-known/jwks.json`
  let status: number | undefined
  try {
    const response = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    status = response.status
    if (status !== 200) throw new Error(`answered ${status || 'with a redirect'}`)
    return JSON.parse(await readText(response))
  } catch (cause) {
    const message = `Cannot read public keys from ${address}: ${describeNetworkError(cause)}`
    throw new ConnectionError(message, status, undefined, { cause })
  }
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (const reader = body?.getReader(); reader; ) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.length
    if (bytes > maxBytes) {
      await reader.cancel()
      throw new Error(`the answer has more than ${maxBytes} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
  return text
}
