import { RequestGate } from './gate.ts'

export type Environment = 'live' | 'sandbox'

const roots: Record<Environment, string> = { live: '/v1', sandbox: '/sandbox' }

/** An error response from the service, or a failure to reach it. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number | null,
    readonly requestId: string | null = null,
  ) {
    super(message)
  }
}

/** Converts a thrown value to an error whose message can be shown. */
export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('The page could not read the response', null)
}

/** The parts of an envelope that the page relies on. */
export interface Envelope<T> {
  data: T
  meta: { pagination?: { next_cursor?: string | null; last_page?: number } }
}

export interface ApiRequestOptions {
  environment?: Environment
  query?: Record<string, string | string[]>
  /** True if the page sends the request on its own. One request per minute is reserved for the partner's actions. */
  isBackground?: boolean
  signal?: AbortSignal
}

/** Sends requests with one key, within the page's request limit. */
export class Api {
  private readonly gate = new RequestGate()
  private ahead = 0
  /** Ends every request once the key was refused. */
  private readonly ended = new AbortController()
  /** Called once, when the service refuses the key. */
  onRefused: ((error: ApiError) => void) | undefined

  /** @throws ApiError if the text cannot be a key */
  constructor(private readonly key: string) {
    if (!/^[!-~]+$/.test(key)) throw new ApiError('This is not an API key', null)
  }

  /** Returns the service's current time in milliseconds since 1970. This machine's clock may differ. */
  now(): number {
    return Date.now() + this.ahead
  }

  /** @throws ApiError */
  get<T>(path: string, asking: ApiRequestOptions = {}): Promise<Envelope<T>> {
    return this.send('GET', path, asking)
  }

  /** @throws ApiError */
  async send<T>(
    method: string,
    path: string,
    asking: ApiRequestOptions & { body?: object } = {},
  ): Promise<Envelope<T>> {
    const {
      environment = 'live',
      query = {},
      isBackground = false,
      signal: asker = never,
      body: sent,
    } = asking
    const signal = AbortSignal.any([asker, this.ended.signal])
    await this.gate.pass(isBackground, signal)
    const search = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
    )
    const address = `${roots[environment]}${path}${search.size > 0 ? `?${search}` : ''}`
    const response = await fetch(address, {
      method,
      // A person's look at the console must not make a product that has stopped reading look alive.
      headers: { 'x-api-key': this.key, prefer: 'peek' },
      ...(sent ? { body: JSON.stringify(sent) } : {}),
      cache: 'no-store',
      credentials: 'omit',
      signal,
    }).catch((error) => {
      if (signal.aborted) throw error
      throw new ApiError('The service cannot be reached', null)
    })
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) this.ahead = date - Date.now()
    const body = await response.json().catch(() => null)
    if (response.ok && body) return body as Envelope<T>
    const message = body?.error?.message ?? `The service responded ${response.status}`
    const error = new ApiError(message, response.status, body?.error?.request_id)
    // A fault that a partner injected into the sandbox says nothing about the key.
    if (response.status === 401 && !response.headers.has('sandbox-fault')) this.refuse(error)
    throw error
  }

  /** A refused key stays refused, so that no panel asks again with it. */
  private refuse(error: ApiError): void {
    if (this.ended.signal.aborted) return
    this.ended.abort(error)
    this.onRefused?.(error)
  }
}

const never = new AbortController().signal
