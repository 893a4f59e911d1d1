import { type Answer, type Failure, failureOf, type Json, readAnswer } from './answer.ts'
import { ArgumentError, type ConnectionError, PartnerError } from './errors.ts'
import { describeNetworkError } from './network-cause.ts'
import { mayRepeat, type Repeatable, retryPause, sleep, takesKey } from './retry.ts'

/** Options of a client. */
export interface ClientOptions {
  /** The API key; a TypeError is thrown if it is missing. */
  key: string | undefined
  /** Address of the service; a TypeError is thrown if it is missing, or is not an http or https address. */
  baseUrl: string | undefined
  /** Sends all requests to the sandbox. */
  sandbox?: boolean
  /** Makes the service refuse unknown and read-only fields in bodies instead of ignoring them. */
  strict?: boolean
  /** Replaces the platform's `fetch`. */
  fetch?: (request: Request) => Promise<Response>
  /** Time limit for each attempt in milliseconds, 30,000 by default; a request's `wait` is added to it. */
  timeoutMs?: number
  /** Maximum number of retries per request, 3 by default. */
  retries?: number
  /** Called after each attempt. */
  onRequest?: (attempt: Attempt) => void
}

/** One attempt to send a request. */
export interface Attempt {
  method: string
  path: string
  /** Number of the attempt, counting from 1. */
  attempt: number
  /** Response status; undefined if there was no response. */
  status: number | undefined
  requestId: string | undefined
  milliseconds: number
  /** Seconds until the next attempt; undefined after the last attempt. */
  retryInSeconds: number | undefined
  /** The error, if this attempt failed. */
  error: PartnerError | ConnectionError | undefined
}

type QueryValue = string | number | boolean | undefined | null
/** Options of a request. */
export interface RequestOptions {
  query?: Record<string, QueryValue | readonly QueryValue[]> | undefined
  /** Sent as JSON, unless it is a string, which is sent unchanged. */
  body?: unknown
  headers?: Record<string, string> | undefined
  /** Replaces the key that the client generates for operations that take an `Idempotency-Key`. */
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
  /** Maximum number of retries; replaces the client's setting. */
  retries?: number | undefined
}

/** Internal options of a request. */
interface SendOptions extends RequestOptions {
  /** Returns false for `data` that the service would not send. */
  accepts?: (data: Json) => boolean
}

const defaults = { timeoutMs: 30_000, retries: 3 }

/** Sends requests, and retries them if a retry is harmless and may succeed. */
export class Transport {
  private readonly root: string
  private readonly key: string

  constructor(private readonly options: ClientOptions) {
    const { key, baseUrl, sandbox } = options
    if (!key) throw new ArgumentError('createClient: "key" is missing')
    if (!baseUrl) throw new ArgumentError('createClient: "baseUrl" is missing')
    if (!/^https?:\/\/[^?#]+$/.test(baseUrl) || !URL.canParse(baseUrl))
      throw new ArgumentError('createClient: "baseUrl" must be an http or https address without a query')
    // The message must not repeat the key.
    if (!/^[\x21-\x7e]+$/.test(key))
      throw new ArgumentError('createClient: "key" must be printable ASCII without spaces')
    this.key = key
    this.root = `${baseUrl.replace(/(\/(v1|sandbox))?\/*$/, '')}/${sandbox ? 'sandbox' : 'v1'}`
  }

  /**
   * @throws the last attempt's error: a PartnerError if the service refused the request, or a ConnectionError if no
   *   complete response arrived; the reason of `signal` if it is aborted; ArgumentError for a path that is not below
   *   the root, and for values that cannot be sent
   */
  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const { signal, retries = this.options.retries ?? defaults.retries } = options
    const sent: Repeatable = { method, path, body: options.body, idempotencyKey: options.idempotencyKey }
    if (takesKey(sent)) sent.idempotencyKey ??= crypto.randomUUID()
    const url = this.urlOf(path, options.query)
    if (options.body !== undefined && method === 'GET')
      throw new ArgumentError('A GET request cannot have a body')
    const begun = Date.now()
    let wasLost = false
    for (let attempt = 1; ; attempt += 1) {
      const start = Date.now()
      const found = await this.try(url, sent, options)
      signal?.throwIfAborted()
      const failure = 'error' in found ? found : undefined
      const isDone = wasLost && method === 'DELETE' && isMissing(failure?.error)
      const pause =
        failure && !isDone && attempt <= retries
          ? retryPause(failure, attempt, retries === Infinity, mayRepeat(sent, Date.now() - begun))
          : undefined
      const { status, requestId } = factsOf(found)
      this.options.onRequest?.({
        method,
        path,
        attempt,
        status,
        requestId,
        milliseconds: Date.now() - start,
        retryInSeconds: pause,
        error: failure?.error,
      })
      if (!('error' in found)) return found
      // An earlier attempt deleted the resource, but its response was lost.
      if (isDone)
        return { data: undefined, meta: {}, envelope: {}, response: new Response(null, { status: 204 }) }
      if (pause === undefined) throw found.error
      wasLost ||= found.retryPolicy === 'if harmless'
      await sleep(pause, signal)
    }
  }

  private async try(url: string, sent: Repeatable, options: SendOptions): Promise<Answer | Failure> {
    const { fetch = (request: Request) => globalThis.fetch(request), timeoutMs = defaults.timeoutMs } =
      this.options
    const wait = Number(options.query?.wait ?? 0) * 1000
    const timeout = AbortSignal.timeout(timeoutMs + wait)
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout
    // This is outside `try`, because a value that cannot be sent is not a network failure.
    const request = this.requestOf(url, sent, options.headers, signal)
    let status: number | undefined
    try {
      const response = await fetch(request)
      status = response.status
      return await readAnswer(response, this.root, options.accepts)
    } catch (cause) {
      let what =
        status === undefined ? `cannot be reached: ${describeNetworkError(cause)}` : 'dropped the connection'
      if (timeout.aborted) what = `did not answer within ${(timeoutMs + wait) / 1000} s`
      return failureOf(cause, this.root, what, status)
    }
  }

  /** @throws ArgumentError for a path that leads out of the client's environment, or contains `.` or `..` segments */
  private urlOf(path: string, query: RequestOptions['query'] = {}): string {
    const url = new URL(this.root + path)
    const { pathname } = new URL(this.root)
    const isBelow = url.pathname === pathname || url.pathname.startsWith(`${pathname}/`)
    const [segments = ''] = path.split(/[?#]/)
    // Also refuses tabs, line breaks and trailing whitespace, which `URL` would silently drop.
    if (!isBelow || /[\\/](\.|%2e){1,2}([\\/]|$)|[\t\r\n]|\s$/i.test(segments))
      throw new ArgumentError(`"${path}" is not a path below ${pathname}`)
    for (const [name, value] of Object.entries(query))
      for (const one of [value].flat())
        if (one !== undefined && one !== null) url.searchParams.append(name, `${one}`)
    return url.href
  }

  /** @throws ArgumentError for a body or a header that cannot be sent */
  private requestOf(
    url: string,
    { method, body, idempotencyKey }: Repeatable,
    headers: RequestOptions['headers'],
    signal: AbortSignal,
  ): Request {
    try {
      return new Request(url, {
        method,
        headers: {
          ...(this.options.strict && body !== undefined ? { prefer: 'handling=strict' } : {}),
          ...headers,
          'x-api-key': this.key,
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        // The key must not be sent to another address.
        redirect: 'manual',
        signal,
      })
    } catch (cause) {
      throw new ArgumentError((cause as Error).message, { cause })
    }
  }
}

function isMissing(error: Failure['error'] | undefined): boolean {
  return error instanceof PartnerError && error.type === 'not_found'
}

function factsOf(found: Answer | Failure): Pick<Attempt, 'status' | 'requestId'> {
  if ('response' in found) {
    const { status, headers } = found.response
    return { status, requestId: headers.get('x-request-id') ?? undefined }
  }
  const { error } = found
  return { status: error.status, requestId: 'requestId' in error ? error.requestId : undefined }
}
