import type * as http from 'node:http'
import { privateHostOf } from './address.ts'
import { FileBody, noContent, type ReadBody } from './body.ts'
import {
  AddressError,
  ConnectionError,
  isRedirect,
  type Lookup,
  type Received,
  sendRequest,
} from './connection.ts'
import type { FileContent } from './content.ts'
import { parseRetryAfter } from './retry-after.ts'
import type { Turn } from './turns.ts'

/** A file to fetch from a server that others have named. */
export interface FileRequest {
  url: URL
  headers: Record<string, string>
  /** True to also allow private addresses and plain `http`, for development. */
  allowsPrivate: boolean
  /** Maximum size of the body as it is sent. */
  maxBytes: number
  /** Time limit for everything from the first name lookup to the end of the body, without the waiting for turns. */
  timeoutMilliseconds: number
  maxRedirects: number
  lookup?: Lookup
  /** Additional CA certificates to trust. */
  ca?: string
  /**
   * Waits for a turn at an origin, before each request, those after a redirect included. The turn is ended with the
   * request, whatever its outcome. What it throws is thrown by `fetchFile`.
   */
  takeTurn?: (origin: string) => Promise<Turn>
}

/** Why a file could not be fetched. */
export type FileFailure =
  /** The address is private, has user info, or is not `https`. */
  | 'address'
  /** The name has no address. */
  | 'dns'
  /** The certificate or the handshake is at fault. */
  | 'tls'
  /** The connection was refused, reset or closed before the end, or what came over it is not HTTP. */
  | 'refused'
  | 'timeout'
  /** A redirect too many, one to another scheme, or one without an address to go to. */
  | 'redirect'
  | 'too_large'

/** The outcome of fetching a file. */
export type FileAnswer = FileAnswered | FileFailed

interface FileAnswered {
  kind: 'answered'
  status: number
  /** The header as it was sent, to be sent back in `If-None-Match`; null if there is none that can be sent back. */
  etag: string | null
  /** The same for `If-Modified-Since`. */
  lastModified: string | null
  retryAfterSeconds: number | null
  /**
   * The file. Empty if the status is not 2xx, or is 206, because a part of a file is not the file; also empty if the
   * encoding of the content is unknown, so that nothing can be read.
   */
  content: FileContent
}

interface FileFailed {
  kind: 'failed'
  error: FileFailure
  /** Status of the last response, which may be a redirect; null if there was no response. */
  status: number | null
  /** Pause requested by that response. */
  retryAfterSeconds: number | null
}

/**
 * Fetches a file over connections to checked addresses. Each redirect is checked like the first address. A body that is
 * cut short is a failure and never a shorter file, because what reads it would take the rest for gone. Connections are
 * closed afterwards, because files of one server are rarely fetched within the seconds for which one could be kept.
 * Never throws, whatever a server does.
 *
 *     address ── allowed ──▶ turn ──▶ request ── 3xx ──▶ the next address, up to `maxRedirects` times
 *        │                              │ └───── 2xx ──▶ body ── complete ──▶ answered
 *        │                              └── otherwise ────┼─────────────────▶ answered, without a body
 *        └── not allowed ──▶ failed ◀── too large, cut ───┘
 *
 * While a turn is awaited, the time limit stands still; in any other state it leads to `failed`, as does an error.
 */
export async function fetchFile(request: FileRequest): Promise<FileAnswer> {
  const journey = { url: request.url, remainingMilliseconds: request.timeoutMilliseconds }
  let response: Pick<FileFailed, 'status' | 'retryAfterSeconds'> = { status: null, retryAfterSeconds: null }
  const failed = (error: FileFailure): FileFailed => ({ kind: 'failed', error, ...response })
  for (let redirects = 0; ; redirects += 1) {
    if (!isAllowed(journey.url, request)) return failed('address')
    const turn = await request.takeTurn?.(journey.url.origin)
    const start = performance.now()
    const outcome = await fetchInTurn({ ...request, ...journey }, turn)
    if (typeof outcome === 'string') return failed(outcome)
    const { head, body } = outcome
    response = { status: head.status, retryAfterSeconds: head.retryAfterSeconds }
    if (body === 'too_large' || body === 'timeout') return failed(body)
    if (body === 'cut') return failed('refused')
    if (!isRedirect(head.status)) return { kind: 'answered', ...head, content: body }
    const target = redirects < request.maxRedirects ? targetOf(outcome.location, journey.url) : null
    if (!target) return failed('redirect')
    journey.url = target
    journey.remainingMilliseconds -= performance.now() - start
  }
}

/** Returns false for an address to which nothing is sent, whatever its name resolves to. */
function isAllowed(url: URL, { allowsPrivate }: FileRequest): boolean {
  if (url.username !== '' || url.password !== '') return false
  if (allowsPrivate) return url.protocol === 'https:' || url.protocol === 'http:'
  return url.protocol === 'https:' && privateHostOf(url) === null
}

/** Returns the address that a redirect leads to; null if there is none, or if it has another scheme. */
function targetOf(location: string | undefined, url: URL): URL | null {
  const target = location === undefined ? null : URL.parse(location, url)
  return target?.protocol === url.protocol ? target : null
}

/** A response of which nothing more is read. */
interface Fetched {
  head: Omit<FileAnswered, 'kind' | 'content'>
  body: ReadBody | 'timeout'
  location: string | undefined
}

/** Makes one request and ends its turn. Returns the failure if there was no response. */
async function fetchInTurn(
  request: FileRequest & { remainingMilliseconds: number },
  turn: Turn | undefined,
): Promise<Fetched | FileFailure> {
  const over = new AbortController()
  const timeout = Promise.withResolvers<'timeout'>()
  const timer = setTimeout(() => timeout.resolve('timeout'), request.remainingMilliseconds)
  turn?.begin()
  try {
    const { url, allowsPrivate, lookup, ca } = request
    const headers = { ...request.headers, 'accept-encoding': 'gzip, deflate' }
    const sent = sendRequest(
      {
        url,
        method: 'GET',
        headers,
        body: '',
        allowsPrivate,
        keepsConnection: false,
        lookup,
        ca,
        onSent: () => turn?.sent(),
      },
      over.signal,
      (message) => readResponse(message, request),
    )
    const response = await Promise.race([sent, timeout.promise])
    if (response === 'timeout') return 'timeout'
    const body = await Promise.race([response.bodyEnd, timeout.promise])
    return { head: response.head, body, location: response.location }
  } catch (error) {
    return failureOf(error)
  } finally {
    clearTimeout(timer)
    over.abort()
    turn?.end()
  }
}

/** A response whose head is complete. */
interface Response extends Received, Pick<Fetched, 'head' | 'location'> {
  bodyEnd: Promise<ReadBody>
}

function readResponse(message: http.IncomingMessage, request: FileRequest): Response {
  const { statusCode = 0, headers } = message
  return {
    head: {
      status: statusCode,
      etag: validatorOf(headers.etag),
      lastModified: validatorOf(headers['last-modified']),
      retryAfterSeconds: parseRetryAfter(headers['retry-after']),
    },
    location: headers.location,
    bodyEnd: hasFile(statusCode) ? new FileBody(message, request.maxBytes).end : ignoreBody(message),
  }
}

/** Returns true for a response whose body is the file. */
function hasFile(status: number): boolean {
  return status >= 200 && status < 300 && status !== 206
}

/** Closes the connection instead of reading a body that nobody needs. */
async function ignoreBody(message: http.IncomingMessage): Promise<ReadBody> {
  message.on('error', () => {})
  message.socket.destroy()
  return noContent
}

/** Longer than the validators of known servers, which are hashes and dates. */
const maxValidatorLength = 512

/** Returns a header that can be stored and sent back as it is; null if it cannot. */
function validatorOf(value: string | undefined): string | null {
  if (value === undefined || value.length > maxValidatorLength) return null
  return /^[\x20-\x7e]+$/.test(value) ? value : null
}

/** Returns the word for an error of a request that got no response. */
function failureOf(error: unknown): FileFailure {
  if (error instanceof AddressError) return 'address'
  if (!(error instanceof ConnectionError)) return 'refused'
  if (error.detail === 'dns') return 'dns'
  const isUnknown = error.detail === null || error.detail === 'refused' || error.detail === 'reset'
  return isUnknown ? 'refused' : 'tls'
}
