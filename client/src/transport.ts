import { ConnectionError, PartnerError, type Problem } from './errors.ts'
import { mayRepeat, type Repeatable, takesKey } from './repeat.ts'

/** How a client is made. */
export interface ClientOptions {
  /** The API key; a TypeError where it is missing. */
  key: string | undefined
  /** Address of the service; a TypeError where it is missing, or none. */
  baseUrl: string | undefined
  /** Everything goes to the sandbox. */
  sandbox?: boolean
  /** In place of the platform's. */
  fetch?: (request: Request) => Promise<Response>
  /** Of each try, 30,000 by default; a request that waits has its `wait` in addition. */
  timeoutMs?: number
  /** How often a request is sent again, 3 by default. */
  retries?: number
  /** Told of each try. */
  onRequest?: (attempt: Attempt) => void
}

/** A try of a request. */
export interface Attempt {
  method: string
  path: string
  /** From 1. */
  attempt: number
  /** Undefined where no answer came. */
  status: number | undefined
  requestId: string | undefined
  milliseconds: number
  /** When the next one follows; undefined after the last. */
  retryInSeconds: number | undefined
  /** What the try failed with. */
  error: PartnerError | ConnectionError | undefined
}

type QueryValue = string | number | boolean | undefined | null
/** What a request is sent with. */
export interface RequestOptions {
  query?: Record<string, QueryValue | readonly QueryValue[]> | undefined
  /** Sent as JSON. */
  body?: unknown
  headers?: Record<string, string> | undefined
  /** In place of one that the client makes, for the operations that take one. */
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
  /** How often it is sent again, in place of the client's. */
  retries?: number | undefined
}

/** What is sent by the client itself. */
interface SendOptions extends RequestOptions {
  /** False for `data` that the service would not send. */
  accepts?: (data: Json) => boolean
}

// biome-ignore lint/suspicious/noExplicitAny: as the service sends it; each method says what it is
type Json = any

/** An answer of the service. */
export interface Answer<T = Json> {
  data: T
  meta: Json
  /** All that was sent. */
  envelope: Json
  response: Response
}

const defaults = { timeoutMs: 30_000, retries: 3 }
/** Whoever asks for a longer pause is thrown to the caller. */
const maxRetryAfterSeconds = 300
/** A feed waits as long as it is asked to, and not for ever. */
const maxPatienceSeconds = 3600
const maxPauseSeconds = 30

/** Where a try failed. */
interface Failure {
  error: PartnerError | ConnectionError
  /** Whether it may be sent again: always, where nothing can have been done; or where a repeat does no harm. */
  again: 'always' | 'if harmless' | 'never'
}

/** Sends requests, and sends them again where that helps and does no harm. */
export class Transport {
  private readonly root: string

  private readonly key: string

  constructor(private readonly options: ClientOptions) {
    const { key, baseUrl, sandbox } = options
    if (!key) throw new TypeError('createClient: "key" is missing')
    if (!baseUrl) throw new TypeError('createClient: "baseUrl" is missing')
    if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl))
      throw new TypeError('createClient: "baseUrl" must be an http or https address')
    this.key = key
    this.root = `${baseUrl.replace(/(\/(v1|sandbox))?\/*$/, '')}/${sandbox ? 'sandbox' : 'v1'}`
  }

  /**
   * @throws PartnerError where the service refuses; ConnectionError where no answer came, after the tries; the reason of
   *   `signal`
   */
  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const { signal, retries = this.options.retries ?? defaults.retries } = options
    const sent: Repeatable = { method, path, body: options.body, idempotencyKey: options.idempotencyKey }
    if (takesKey(sent)) sent.idempotencyKey ??= crypto.randomUUID()
    const begun = Date.now()
    let wasLost = false
    for (let attempt = 1; ; attempt += 1) {
      const start = Date.now()
      const found = await this.try(sent, options)
      signal?.throwIfAborted()
      const isDone = 'error' in found && wasLost && method === 'DELETE' && isMissing(found.error)
      const pause =
        'error' in found && !isDone && attempt <= retries
          ? pauseOf(found, attempt, retries === Infinity, mayRepeat(sent, Date.now() - begun))
          : undefined
      const { status, requestId } = 'error' in found ? factsOf(found.error) : factsOfAnswer(found)
      const milliseconds = Date.now() - start
      this.options.onRequest?.({
        method,
        path,
        attempt,
        status,
        requestId,
        milliseconds,
        retryInSeconds: pause,
        error: 'error' in found ? found.error : undefined,
      })
      if (!('error' in found)) return found
      // The try before it was carried out.
      if (isDone)
        return { data: undefined, meta: {}, envelope: {}, response: new Response(null, { status: 204 }) }
      if (pause === undefined) throw found.error
      wasLost ||= found.again === 'if harmless'
      await sleep(pause, signal)
    }
  }

  private async try(sent: Repeatable, options: SendOptions): Promise<Answer | Failure> {
    const { fetch = (request: Request) => globalThis.fetch(request), timeoutMs = defaults.timeoutMs } =
      this.options
    const wait = Number(options.query?.wait ?? 0) * 1000
    const timeout = AbortSignal.timeout(timeoutMs + wait)
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout
    let status: number | undefined
    try {
      const response = await fetch(this.requestOf(sent, options, signal))
      status = response.status
      return await read(response, options.accepts)
    } catch (cause) {
      const what = timeout.aborted
        ? `did not answer within ${(timeoutMs + wait) / 1000} s`
        : status === undefined
          ? 'cannot be reached'
          : 'broke off'
      const error = new ConnectionError(`${this.root} ${what}`, status, undefined, { cause })
      return { error, again: isRefused(cause) ? 'always' : 'if harmless' }
    }
  }

  private requestOf(sent: Repeatable, { query = {}, headers }: RequestOptions, signal: AbortSignal): Request {
    const { method, path, body, idempotencyKey } = sent
    const url = new URL(this.root + path)
    for (const [name, value] of Object.entries(query))
      for (const one of [value].flat())
        if (one !== undefined && one !== null) url.searchParams.append(name, `${one}`)
    return new Request(url.href, {
      method,
      headers: {
        ...headers,
        'x-api-key': this.key,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      // The key is meant for this address only.
      redirect: 'manual',
      signal,
    })
  }
}

async function read(response: Response, accepts = (_: Json) => true): Promise<Answer | Failure> {
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

/** Seconds before the next try; undefined where there is none. */
function pauseOf({ error, again }: Failure, attempt: number, isPatient: boolean, isHarmless: boolean) {
  if (again === 'never' || (again === 'if harmless' && !isHarmless)) return undefined
  const { retryAfterSeconds } = error
  if (retryAfterSeconds !== undefined && isPatient) return Math.min(retryAfterSeconds, maxPatienceSeconds)
  if (retryAfterSeconds !== undefined)
    return retryAfterSeconds <= maxRetryAfterSeconds ? retryAfterSeconds : undefined
  return Math.min(maxPauseSeconds, 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)
}

function isMissing(error: Failure['error']): boolean {
  return error instanceof PartnerError && error.type === 'not_found'
}

function factsOf(error: Failure['error']) {
  return { status: error.status, requestId: 'requestId' in error ? error.requestId : undefined }
}

function factsOfAnswer({ response: { status, headers } }: Answer) {
  return { status, requestId: headers.get('x-request-id') ?? undefined }
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

/** @throws the reason of the signal */
export function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, seconds * 1000)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
  })
}
