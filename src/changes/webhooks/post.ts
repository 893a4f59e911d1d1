import * as http from 'node:http'
import * as https from 'node:https'
import { isIP } from 'node:net'
import { isPublicAddress, literalAddress } from './address.ts'

/** Reason why a post got no response. */
export type PostFailure = 'timeout' | 'connection' | 'address'
/** Known causes of a failed connection. */
export type ConnectionDetail = 'refused' | 'reset' | 'tls' | 'dns'

/** The outcome of one post. */
export interface PostResult {
  /** HTTP status; null if there was no response. */
  status: number | null
  failure: PostFailure | null
  /** Cause of a `connection` failure; null for any other outcome and if the cause is unknown. */
  detail: ConnectionDetail | null
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

/** Time limit for the whole attempt, from the name lookup to the response. */
const timeoutMilliseconds = 15_000
/** Time limit for connecting to an address while other addresses are left to try. */
const connectMilliseconds = 5000
/** Maximum number of bytes to receive, including interim responses such as 103, which a server could send forever. */
const maxBytes = 64 * 1024
const maxAddresses = 4
/**
 * How long an idle connection is kept open; less than the 5 s after which typical servers close idle connections.
 */
const keptMilliseconds = 4000
/** Time limit for reading the body, which is read only so that the connection can be reused. */
const bodyMilliseconds = 100

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
 * name. Redirects are not followed and proxies are not used. At most 64 KiB of the response is read.
 */
export async function postHint(posting: PostRequest): Promise<PostResult> {
  const start = performance.now()
  const done = (more: Partial<PostResult>): PostResult => ({
    ...{ status: null, failure: null, detail: null, retryAfterSeconds: null },
    ...more,
    milliseconds: Math.round(performance.now() - start),
  })
  // Once the attempt is over, nothing more is looked up, opened or written, and unfinished connections are closed.
  const over = new AbortController()
  const timeout = Promise.withResolvers<'timeout'>()
  const timer = setTimeout(() => timeout.resolve('timeout'), timeoutMilliseconds)
  const sending = async (): Promise<Response> => {
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
    const head = await Promise.race([sending(), timeout.promise])
    return head === 'timeout' ? done({ failure: 'timeout' }) : done(head)
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

type Response = Pick<PostResult, 'status' | 'retryAfterSeconds'>

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
 * @param to `connectWithin` is the time limit for connecting, in milliseconds
 * @throws ConnectionError, for example if connecting takes longer than `connectWithin`
 */
function send(
  posting: PostRequest,
  to: { host: string; connectWithin: number; isFresh?: boolean },
  over: AbortSignal,
): Promise<Response> {
  const { url, headers, body, ca } = posting
  const isTls = url.protocol === 'https:'
  const request = (isTls ? https : http).request({
    ...{ host: to.host, port: url.port || (isTls ? 443 : 80) },
    ...{ method: 'POST', path: `${url.pathname}${url.search}`, maxHeaderSize: maxBytes },
    agent: to.isFresh ? false : agents[isTls ? 'https' : 'http'],
    headers: { host: url.host, 'content-length': Buffer.byteLength(body), ...headers },
    ...(literalAddress(url) === null ? { servername: url.hostname } : {}),
    ...(ca ? { ca } : {}),
  })
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  let [isReached, isConnected, bytes] = [false, false, 0]
  const fail = (error: NodeJS.ErrnoException) => {
    const detail = detailOf(error, isTls && isReached && !isConnected)
    const isStale = request.reusedSocket && bytes === 0 && detail === 'reset' && !over.aborted
    if (isStale) resolve(send(posting, { ...to, isFresh: true }, over))
    else reject(new ConnectionError(detail, !isConnected))
  }
  const timer = setTimeout(() => isConnected || request.destroy(new Error('No connection')), to.connectWithin)
  // A listener costs less than the request's own `signal` option.
  const abort = () => request.destroy()
  over.addEventListener('abort', abort)
  const count = ({ length }: Buffer) => {
    bytes += length
    if (bytes > maxBytes) request.destroy(new Error('The response is too large'))
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
  const end = (message: http.IncomingMessage) => {
    const { statusCode, headers, socket } = message
    const response = {
      status: statusCode ?? null,
      retryAfterSeconds: parseRetryAfter(headers['retry-after']),
    }
    // Detaches this post's listeners, because the connection may now be reused for another post.
    const finish = () => {
      clearTimeout(closing)
      socket.off('data', count)
      over.removeEventListener('abort', abort)
      resolve(response)
    }
    const closing = setTimeout(() => socket.destroy(), bodyMilliseconds)
    message.on('end', finish).on('error', finish).on('close', finish).resume()
    // The body is ignored, but the connection can be reused only after the whole body has been read.
    const isBounded = 'content-length' in headers || 'transfer-encoding' in headers || statusCode === 204
    if (statusCode === 101 || !isBounded) socket.destroy()
  }
  request.on('response', end)
  request.on('upgrade', end)
  request.on('error', fail)
  request.on('close', () => clearTimeout(timer))
  request.end(body)
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
