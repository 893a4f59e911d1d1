import type * as http from 'node:http'
import {
  AddressError,
  ConnectionError,
  isRedirect,
  type OutgoingRequest,
  type Received,
  sendRequest,
} from '../../../platform/outgoing/connection.ts'
import { parseRetryAfter } from '../../../platform/outgoing/retry-after.ts'
import type { FailureDetail, PostFailure } from '../model.ts'

/** The outcome of one post. */
export interface PostResult {
  /** HTTP status; null if there was no response. */
  status: number | null
  failure: PostFailure | null
  /** Cause of a `connection` failure, or `redirect`; null for any other outcome and if the cause is unknown. */
  detail: FailureDetail | null
  /** Origin of the address that the response redirects to; null if it does not. */
  redirectOrigin: string | null
  /** Time until the response's head was complete or the attempt failed. */
  milliseconds: number
  /** Pause requested by the response's `Retry-After`; null if it requests none. */
  retryAfterSeconds: number | null
}

/** A hint to post. Private addresses and plain `http` are only for development. */
export type PostRequest = Omit<OutgoingRequest, 'method' | 'keepsConnection'>

/** Time limit from the name lookup until the response's head is complete. Afterwards, nothing more is sent. */
export const timeoutMilliseconds = 15_000
/** Maximum size of a body that is read, which is done only so that the connection can be reused. */
const maxBodyBytes = 64 * 1024
/** Time limit for reading the body. */
const bodyMilliseconds = 1000

/**
 * Posts a hint over a connection to a checked address, which may be a kept one. Redirects are not followed. The outcome
 * is known once the response's head is complete, and nothing that follows changes it: neither a long or endless body
 * nor a reset (decisions §21).
 */
export async function postHint(posting: PostRequest): Promise<PostResult> {
  const start = performance.now()
  const done = (outcome: Partial<PostResult>): PostResult => ({
    status: null,
    failure: null,
    detail: null,
    redirectOrigin: null,
    retryAfterSeconds: null,
    ...outcome,
    milliseconds: Math.round(performance.now() - start),
  })
  const request: OutgoingRequest = { ...posting, method: 'POST', keepsConnection: true }
  const over = new AbortController()
  const timeout = Promise.withResolvers<'timeout'>()
  const timer = setTimeout(() => timeout.resolve('timeout'), timeoutMilliseconds)
  try {
    const receive = (message: http.IncomingMessage) => readAnswer(message, posting.url)
    const answer = await Promise.race([sendRequest(request, over.signal, receive), timeout.promise])
    if (answer === 'timeout') return done({ failure: 'timeout' })
    const result = done(answer.head)
    // An attempt that took longer than its time limit could be presumed lost.
    await Promise.race([answer.bodyEnd, timeout.promise])
    return result
  } catch (error) {
    if (error instanceof AddressError) return done({ failure: 'address' })
    return done({ failure: 'connection', detail: error instanceof ConnectionError ? error.detail : null })
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

/** A response whose head is complete. Its `bodyEnd` resolves after a second at most. */
interface Answer extends Received {
  head: Pick<PostResult, 'status' | 'detail' | 'redirectOrigin' | 'retryAfterSeconds'>
}

function readAnswer(message: http.IncomingMessage, url: URL): Answer {
  const { statusCode, headers } = message
  return {
    head: {
      status: statusCode ?? null,
      detail: isRedirect(statusCode) ? 'redirect' : null,
      redirectOrigin: isRedirect(statusCode) ? originOf(headers.location, url) : null,
      retryAfterSeconds: parseRetryAfter(headers['retry-after']),
    },
    bodyEnd: readBody(message),
  }
}

/**
 * Reads and ignores a response's body, because the connection can be reused only afterwards. If the body is too long or
 * takes too long, the connection is closed instead.
 */
function readBody(message: http.IncomingMessage): Promise<void> {
  const { statusCode, headers, socket } = message
  const { promise, resolve } = Promise.withResolvers<void>()
  let bytes = 0
  const end = () => {
    clearTimeout(timer)
    resolve()
  }
  const close = () => {
    socket.destroy()
    end()
  }
  const timer = setTimeout(close, bodyMilliseconds)
  message.on('data', ({ length }: Buffer) => {
    bytes += length
    if (bytes > maxBodyBytes) close()
  })
  message.on('end', end).on('error', end).on('close', end)
  if (statusCode === 101 || Number(headers['content-length']) > maxBodyBytes) close()
  return promise
}

/** Longer than any origin: a host has at most 253 characters. */
const maxOriginLength = 300

/** Returns the origin of a `Location`, which may be relative to `url`; null if it is not an address of the web. */
function originOf(location: string | undefined, url: URL): string | null {
  const target = location === undefined ? null : URL.parse(location, url)
  if (!target || !/^https?:$/.test(target.protocol)) return null
  return target.origin.length <= maxOriginLength ? target.origin : null
}
