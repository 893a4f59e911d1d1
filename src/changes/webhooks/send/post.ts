import * as http from 'node:http'
import * as https from 'node:https'
import { isIP } from 'node:net'
import { isPublicAddress, literalAddress } from '../address.ts'
import type { ConnectionDetail, PostFailure } from '../model.ts'

/** The outcome of one post. */
export interface PostResult {
  /** HTTP status; null if there was no response. */
  status: number | null
  failure: PostFailure | null
  /** Cause of a `connection` failure; null for any other outcome and if the cause is unknown. */
  detail: ConnectionDetail | null
  /** Time until the response's head was complete or the attempt failed. */
  milliseconds: number
  /** Pause requested by the response's `Retry-After`; null if it requests none. */
  retryAfterSeconds: number | null
}

/** Resolves a name to its IP addresses. */
export type Lookup = (hostname: string) => Promise<string[]>

/** A request to send. */
export interface PostRequest {
  url: URL
  headers: Record<string, string>
  body: string
  /** True to also allow private addresses and plain `http`, for development. */
  allowsPrivate: boolean
  lookup?: Lookup
  /** Additional CA certificates to trust. */
  ca?: string
}

/** Time limit from the name lookup until the response's head is complete. */
const timeoutMilliseconds = 15_000
/** Time limit for connecting to an address while other addresses are left to try. */
const connectMilliseconds = 5000
/** Maximum size of a response's head, including interim responses such as 103, which a server could send forever. */
const maxHeadBytes = 64 * 1024
/** Maximum size of a body that is read, which is done only so that the connection can be reused. */
const maxBodyBytes = 64 * 1024
/** Time limit for reading the body. */
const bodyMilliseconds = 1000
const maxAddresses = 4
/**
 * How long an idle connection is kept open; less than the 5 s after which typical servers close idle connections.
 */
const keptMilliseconds = 4000

/** Error thrown if a host is, or resolves to, a private address. */
class AddressError extends Error {}

/** Error thrown if a connection fails, with the cause if it is known. */
class ConnectionError extends Error {
  constructor(
    readonly detail: ConnectionDetail | null,
    /** True if no connection was established, so nothing was sent. */
    readonly isUnsent: boolean,
  ) {
    super('The connection failed')
  }
}

/** Resolves names without the system resolver, because unresponsive name servers could block its few threads. */
const systemLookup: Lookup = async (hostname) =>
  (await Bun.dns.lookup(hostname, { backend: 'c-ares' })).map(({ address }) => address)

/**
 * Posts a hint. The name is resolved once, every address is checked, and the connection goes to a checked address, so
 * the name cannot resolve differently between check and use. A kept connection is reused only for the same address and
 * name. Redirects are not followed and proxies are not used. The outcome is known once the response's head is complete,
 * and nothing that follows changes it: neither a long or endless body nor a reset (decisions §21).
 */
export async function postHint(posting: PostRequest): Promise<PostResult> {
  const start = performance.now()
  const done = (outcome: Partial<PostResult>): PostResult => ({
    status: null,
    failure: null,
    detail: null,
    retryAfterSeconds: null,
    ...outcome,
    milliseconds: Math.round(performance.now() - start),
  })
  // Once the attempt is over, nothing more is looked up, opened or written, and unfinished connections are closed.
  const over = new AbortController()
  const timeout = Promise.withResolvers<'timeout'>()
  const timer = setTimeout(() => timeout.resolve('timeout'), timeoutMilliseconds)
  const sending = async (): Promise<Answer> => {
    const hosts = await addressesOf(posting)
    for (const [index, host] of hosts.entries()) {
      over.signal.throwIfAborted()
      const isLast = index === hosts.length - 1
      const to = { host, connectWithin: isLast ? timeoutMilliseconds : connectMilliseconds }
      try {
        return await send(posting, to, over.signal)
      } catch (error) {
        if (isLast || !(error instanceof ConnectionError && error.isUnsent)) throw error
      }
    }
    throw new ConnectionError('dns', true)
  }
  try {
    const answer = await Promise.race([sending(), timeout.promise])
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

/**
 * Returns the addresses to try, in order.
 *
 * @throws AddressError if the URL's host is a private address, or any address that it resolves to is private
 * @throws ConnectionError if the name has no address
 */
async function addressesOf({ url, allowsPrivate, lookup = systemLookup }: PostRequest): Promise<string[]> {
  const literal = literalAddress(url)
  const found = literal === null ? await lookup(url.hostname).catch(() => []) : [literal]
  if (found.length === 0) throw new ConnectionError('dns', true)
  if (!allowsPrivate && !found.every(isPublicAddress)) throw new AddressError('The address is private')
  // IPv4 addresses come first because not every machine can reach IPv6 addresses.
  return found.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, maxAddresses)
}

/** A response whose head is complete. */
interface Answer {
  head: Pick<PostResult, 'status' | 'retryAfterSeconds'>
  /** Resolves, after a second at most, once the body has been read or the connection has been closed. */
  bodyEnd: Promise<void>
}

/**
 * Idle connections are kept open for a few seconds, by address, port and name, because opening a connection costs more
 * than posting a hint.
 */
const keeping = { keepAlive: true, maxFreeSockets: 10, timeout: keptMilliseconds }
const agents = { http: new http.Agent(keeping), https: new https.Agent(keeping) }

/**
 * Posts to one address, reusing an idle connection if possible. If the server resets a reused connection before it
 * responds, perhaps because the connection was idle for too long, the post is repeated once over a new connection.
 *
 * @param to the address; `connectWithin` is the time limit for connecting, in milliseconds
 * @throws ConnectionError, for example if connecting takes longer than `connectWithin`
 */
function send(
  posting: PostRequest,
  to: { host: string; connectWithin: number; isFresh?: boolean },
  over: AbortSignal,
): Promise<Answer> {
  const { url, headers, body, ca } = posting
  const isTls = url.protocol === 'https:'
  const request = (isTls ? https : http).request({
    host: to.host,
    port: url.port || (isTls ? 443 : 80),
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    maxHeaderSize: maxHeadBytes,
    agent: to.isFresh ? false : agents[isTls ? 'https' : 'http'],
    headers: { host: url.host, 'content-length': Buffer.byteLength(body), ...headers },
    ...(literalAddress(url) === null ? { servername: url.hostname } : {}),
    ...(ca ? { ca } : {}),
  })
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  let isReached = false
  let isConnected = false
  let isAnswered = false
  /** Bytes received so far, without those received together with the end of the head. */
  let received = 0
  /** Size of the complete heads so far: those of interim responses and, last, the final one. */
  let headBytes = 0
  const fail = (error: NodeJS.ErrnoException) => {
    if (isAnswered) return
    const detail = detailOf(error, isTls && isReached && !isConnected)
    const isStale = request.reusedSocket && received === 0 && detail === 'reset' && !over.aborted
    if (isStale) resolve(send(posting, { ...to, isFresh: true }, over))
    else reject(new ConnectionError(detail, !isConnected))
  }
  const timer = setTimeout(() => {
    if (!isConnected) request.destroy(new Error('No connection'))
  }, to.connectWithin)
  // A listener costs less than the request's own `signal` option.
  const abort = () => request.destroy()
  over.addEventListener('abort', abort)
  const limitHead = (bytes: number) => {
    if (bytes <= maxHeadBytes) return
    fail(new Error("The response's head is too long"))
    request.destroy()
  }
  // The parser sees each piece first, so the piece that completes the head is not counted here.
  const count = ({ length }: Buffer) => {
    if (isAnswered) return
    received += length
    limitHead(received)
  }
  request.on('socket', (socket) => {
    isConnected = request.reusedSocket
    socket.on('data', count)
    if (isConnected) return
    socket.once('connect', () => {
      isReached = true
      isConnected = !isTls
    })
    socket.once('secureConnect', () => {
      isConnected = true
    })
  })
  const countHead = (head: Head) => {
    headBytes += sizeOf(head)
    limitHead(headBytes)
  }
  const end = (message: http.IncomingMessage) => {
    const { statusCode = null, headers, socket } = message
    countHead(message)
    isAnswered = true
    // The connection may be reused for another post afterwards, so this post's listeners are detached.
    const detach = () => {
      socket.off('data', count)
      over.removeEventListener('abort', abort)
    }
    resolve({
      head: { status: statusCode, retryAfterSeconds: parseRetryAfter(headers['retry-after']) },
      bodyEnd: readBody(message).finally(detach),
    })
  }
  request.on('information', countHead)
  request.on('response', end)
  request.on('upgrade', end)
  request.on('error', fail)
  request.on('close', () => clearTimeout(timer))
  request.end(body)
  return promise
}

/** The head of a final or interim response. */
type Head = Pick<http.IncomingMessage, 'statusMessage' | 'rawHeaders'>

/** Returns the size of a response's head in bytes, without optional white space. */
function sizeOf({ statusMessage = '', rawHeaders }: Head): number {
  const statusLine = 'HTTP/1.1 200 \r\n'.length + statusMessage.length
  // Each name is followed by a colon and a space, and each value by a line break.
  return rawHeaders.reduce((sum, { length }) => sum + length + 2, statusLine + '\r\n'.length)
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

/**
 * Classifies a connection error; returns null if its cause is unknown.
 *
 * @param isHandshake true between the TCP connection and the end of the TLS handshake
 */
function detailOf({ code, message }: NodeJS.ErrnoException, isHandshake: boolean): ConnectionDetail | null {
  if (code === 'ECONNREFUSED') return 'refused'
  if (code === 'ECONNRESET' || code === 'EPIPE' || message === 'socket hang up') return 'reset'
  return isHandshake && code !== undefined ? 'tls' : null
}

/** Maximum length of a `Retry-After` value that is parsed; an HTTP date has 29 characters. */
const maxLength = 40

/**
 * Returns the seconds to wait according to a `Retry-After` number or HTTP date; null if there is nothing to wait for.
 */
export function parseRetryAfter(value: string | null | undefined): number | null {
  const text = value?.trim() ?? ''
  if (text.length > maxLength) return null
  if (/^\d+$/.test(text)) return Number(text) || null
  const seconds = text.endsWith(' GMT') ? (Date.parse(text) - Date.now()) / 1000 : 0
  return seconds > 0 ? seconds : null
}
