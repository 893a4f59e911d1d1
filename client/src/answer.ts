import { ConnectionError, PartnerError, type Problem } from './errors.ts'

// biome-ignore lint/suspicious/noExplicitAny: as the service sends it; each method says what it is
export type Json = any

/** An answer of the service. */
export interface Answer<T = Json> {
  data: T
  meta: Json
  /** All that was sent. */
  envelope: Json
  response: Response
}

/** Where a try failed. */
export interface Failure {
  error: PartnerError | ConnectionError
  /** Whether it may be sent again: always, where nothing can have been done; or where a repeat does no harm. */
  again: 'always' | 'if harmless' | 'never'
}

/** @param accepts false for `data` that the service would not send */
export async function readAnswer(response: Response, accepts = (_: Json) => true): Promise<Answer | Failure> {
  const { status, headers } = response
  const retryAfterSeconds = parseRetryAfter(headers.get('retry-after'))
  const text = await response.text()
  const envelope = parse(text)
  const { error } = envelope ?? {}
  if (typeof error?.message === 'string' && typeof error.type === 'string') {
    const requestId = error.request_id ?? headers.get('x-request-id') ?? undefined
    const errors = Array.isArray(error.errors) ? error.errors.filter(isProblem) : []
    const facts = { message: error.message, status, requestId, errors, retryAfterSeconds }
    return { error: new PartnerError(error.type, facts), again: againAfter(status, retryAfterSeconds) }
  }
  const isEnvelope = envelope !== null && typeof envelope === 'object' && 'data' in envelope
  if (response.ok && isEnvelope && accepts(envelope.data))
    return { data: envelope.data, meta: envelope.meta ?? {}, envelope, response }
  const what =
    status >= 300 && status < 400
      ? 'redirects to another address'
      : `answered ${status}, and not as the service does`
  const foreign = new ConnectionError(`${response.url || 'The address'} ${what}`, status, retryAfterSeconds)
  return { error: foreign, again: status >= 400 ? againAfter(status, retryAfterSeconds) : 'if harmless' }
}

function isProblem(one: Json): one is Problem {
  return typeof one?.path === 'string' && typeof one.message === 'string'
}

function againAfter(status: number, retryAfterSeconds: number | undefined): Failure['again'] {
  if (status === 429) return 'always'
  const isTemporary =
    [408, 500, 502, 503, 504].includes(status) || (status === 409 && retryAfterSeconds !== undefined)
  return isTemporary ? 'if harmless' : 'never'
}

/** What a try failed with that brought no answer, or broke off within it. */
export function failureOf(cause: unknown, message: string, status: number | undefined): Failure {
  const error = new ConnectionError(message, status, undefined, { cause })
  return { error, again: isRefused(cause) ? 'always' : 'if harmless' }
}

/** True where no connection came about, so that nothing was sent; each runtime says so in its own words. */
function isRefused(error: unknown): boolean {
  const { code, message, cause } = (error ?? {}) as { code?: string; message?: string; cause?: unknown }
  if (/^(ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN)$/.test(code ?? '')) return true
  return /connection refused/i.test(message ?? '') || (cause !== undefined && isRefused(cause))
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Seconds, of a number as of a date. */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return seconds > 0 ? seconds : undefined
}
