import { ConnectionError, PartnerError, type Problem } from './errors.ts'
import { isLasting, isUnsent } from './network-cause.ts'

// biome-ignore lint/suspicious/noExplicitAny: data as the service sends it; each method declares its type
export type Json = any

/** A successful response from the service. */
export interface Answer<T = Json> {
  data: T
  meta: Json
  /** The complete response body. */
  envelope: Json
  response: Response
}

/** The outcome of a failed attempt. */
export interface Failure {
  error: PartnerError | ConnectionError
  /**
   * When the request may be repeated. `always`: the service cannot have acted on the request. `if harmless`: only if a
   * repeat is harmless. `if patient`: a proxy refused the request, so only if a repeat is harmless and the number of
   * retries is unlimited.
   */
  retryPolicy: 'always' | 'if harmless' | 'if patient' | 'never'
}

/**
 * Parses a response into an {@link Answer}, or into a {@link Failure} if it is an error or not from the service.
 *
 * @param root address that the request was sent to
 * @param accepts returns false for `data` that the service would not send
 */
export async function readAnswer(
  response: Response,
  root: string,
  accepts = (_: Json) => true,
): Promise<Answer | Failure> {
  const { status, headers } = response
  const retryAfterSeconds = parseRetryAfter(headers.get('retry-after'))
  const text = await response.text()
  const envelope = parse(text)
  const { data, meta, error } = envelope ?? {}
  if (typeof error?.message === 'string' && typeof error.type === 'string') {
    const requestId = error.request_id ?? headers.get('x-request-id') ?? undefined
    const errors = Array.isArray(error.errors) ? error.errors.filter(isProblem) : []
    const guide = `${root.replace(/\/\w+$/, '')}/guide/errors#${error.type}`
    const facts = { message: error.message, status, requestId, errors, retryAfterSeconds, guide }
    return {
      error: new PartnerError(error.type, facts),
      retryPolicy: retryPolicyFor(status, retryAfterSeconds),
    }
  }
  const isEnvelope = data !== undefined && typeof meta === 'object' && meta !== null
  if (response.ok && isEnvelope && accepts(data)) return { data, meta, envelope, response }
  const what =
    status >= 300 && status < 400
      ? 'redirects to another address'
      : `answered ${status}, but not in the service's format`
  const message = `${response.url || 'The address'} ${what}`
  const foreign = new ConnectionError(message, status, retryAfterSeconds, { root })
  return { error: foreign, retryPolicy: retryPolicyForForeign(status, retryAfterSeconds) }
}

/**
 * Classifies a response that is not from the service. Any 5xx counts as temporary, because some proxies report an
 * unreachable server with statuses of their own, such as 520 to 527.
 */
function retryPolicyForForeign(
  status: number,
  retryAfterSeconds: number | undefined,
): Failure['retryPolicy'] {
  if (status < 400 || status >= 500) return 'if harmless'
  if (status === 401 || status === 403) return 'never'
  const again = retryPolicyFor(status, retryAfterSeconds)
  return again === 'never' ? 'if patient' : again
}

function isProblem(one: Json): one is Problem {
  return typeof one?.path === 'string' && typeof one.message === 'string'
}

function retryPolicyFor(status: number, retryAfterSeconds: number | undefined): Failure['retryPolicy'] {
  if (status === 429) return 'always'
  const isTemporary =
    [408, 500, 502, 503, 504].includes(status) || (status === 409 && retryAfterSeconds !== undefined)
  return isTemporary ? 'if harmless' : 'never'
}

/** Returns the failure for an attempt that got no response, or whose connection dropped mid-response. */
export function failureOf(cause: unknown, root: string, what: string, status: number | undefined): Failure {
  const error = new ConnectionError(`${root} ${what}`, status, undefined, { cause, root })
  return { error, retryPolicy: retryPolicyForLost(error) }
}

/** Classifies an attempt that got no complete response. A bad certificate is no outage, so waiting does not help. */
function retryPolicyForLost({ networkCause }: ConnectionError): Failure['retryPolicy'] {
  if (isLasting(networkCause)) return 'never'
  return isUnsent(networkCause) ? 'always' : 'if harmless'
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Converts a `Retry-After` header, in seconds or as a date, to seconds; undefined unless the result is positive. */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return seconds > 0 ? seconds : undefined
}
