import * as http from 'node:http'
import * as https from 'node:https'
import { isIP, type Socket } from 'node:net'
import { isPublicAddress, literalAddress } from '../address.ts'
import type { CertificateFault, ConnectionDetail, FailureDetail, PostFailure } from '../model.ts'

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
  /** Called once the request has been sent and will not be sent again. */
  onSent?: () => void
  /** Additional CA certificates to trust. */
  ca?: string
}

/** Time limit from the name lookup until the response's head is complete. Afterwards, nothing more is sent. */
export const timeoutMilliseconds = 15_000
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
    /**
     * What is worth another try: another address, because nothing was sent over this connection; a new connection to
     * the same address, because a kept connection was reset before any response; or nothing.
     */
    readonly worthTrying: 'another address' | 'a new connection' | 'nothing',
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
    redirectOrigin: null,
    retryAfterSeconds: null,
    ...outcome,
    milliseconds: Math.round(performance.now() - start),
  })
  // Once the attempt is over, nothing more is looked up, opened or written, and unfinished connections are closed.
  const over = new AbortController()
  const timeout = Promise.withResolvers<'timeout'>()
  const timer = setTimeout(() => timeout.resolve('timeout'), timeoutMilliseconds)
  try {
    const answer = await Promise.race([postToAnyAddress(posting, over.signal), timeout.promise])
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

/** An address to connect to. */
interface Target {
  address: string
  /** Time limit for connecting. */
  connectWithinMilliseconds: number
  /** True if an idle connection may be reused. */
  mayReuse: boolean
}

/**
 * Posts to the first address that can be connected to. If the server resets a reused connection before it responds,
 * perhaps because the connection was idle for too long, the post is repeated once over a new connection.
 *
 * @throws AddressError, ConnectionError
 */
async function postToAnyAddress(posting: PostRequest, over: AbortSignal): Promise<Answer> {
  const addresses = await addressesOf(posting)
  const last = addresses.length - 1
  const targets = addresses.map((address, index) => ({
    address,
    connectWithinMilliseconds: index === last ? timeoutMilliseconds : connectMilliseconds,
    mayReuse: true,
  }))
  for (let target = targets.shift(); target; target = targets.shift()) {
    over.throwIfAborted()
    try {
      return await new HintConnection(posting, target, over).answer
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      if (error.worthTrying === 'a new connection') targets.unshift({ ...target, mayReuse: false })
      else if (error.worthTrying === 'nothing' || targets.length === 0) throw error
    }
  }
  throw new ConnectionError('dns', 'nothing')
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
  if (found.length === 0) throw new ConnectionError('dns', 'nothing')
  if (!allowsPrivate && !found.every(isPublicAddress)) throw new AddressError('The address is private')
  // IPv4 addresses come first because not every machine can reach IPv6 addresses.
  return found.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, maxAddresses)
}

/** A response whose head is complete. */
interface Answer {
  head: Pick<PostResult, 'status' | 'detail' | 'redirectOrigin' | 'retryAfterSeconds'>
  /** Resolves, after a second at most, once the body has been read or the connection has been closed. */
  bodyEnd: Promise<void>
}

/**
 * One post over one connection to one address.
 *
 *     connecting ── over TLS ──▶ securing ──▶ sent ── the response's head is complete ──▶ answered
 *         └──────── without TLS ───────────────▲
 *
 * A reused connection begins as `sent`. An error ends any state but `answered`, in which the outcome is known. In
 * `connecting` and `securing`, nothing has been sent yet, so another address may be tried.
 */
class HintConnection {
  /**
   * Resolves with the response.
   *
   * @throws ConnectionError, for example if connecting takes longer than the target's time limit
   */
  readonly answer: Promise<Answer>
  private state: 'connecting' | 'securing' | 'sent' | 'answered' = 'connecting'
  private readonly outcome = Promise.withResolvers<Answer>()
  private readonly request: http.ClientRequest
  private readonly url: URL
  /** Bytes received so far, without those received together with the end of the head. */
  private received = 0
  /** Size of the complete heads so far: those of interim responses and, last, the final one. */
  private headBytes = 0

  constructor(
    posting: PostRequest,
    target: Target,
    private readonly over: AbortSignal,
  ) {
    this.answer = this.outcome.promise
    this.url = posting.url
    this.request = openRequest(posting, target)
    const timer = setTimeout(() => {
      if (this.isUnsent()) this.request.destroy(new Error('No connection'))
    }, target.connectWithinMilliseconds)
    // A listener costs less than the request's own `signal` option.
    over.addEventListener('abort', this.abort)
    this.request.on('socket', (socket) => this.connect(socket, posting))
    this.request.on('information', (head) => this.countHead(head))
    this.request.on('response', (message) => this.succeed(message))
    this.request.on('upgrade', (message) => this.succeed(message))
    this.request.on('error', (error) => this.fail(error))
    this.request.on('close', () => clearTimeout(timer))
    this.request.end(posting.body)
  }

  private isUnsent(): boolean {
    return this.state === 'connecting' || this.state === 'securing'
  }

  private readonly abort = (): void => {
    this.request.destroy()
  }

  /** Follows a socket from its connection to the first bytes of the response. */
  private connect(socket: Socket, posting: PostRequest): void {
    socket.on('data', this.count)
    if (this.request.reusedSocket) {
      // If the server has closed the connection meanwhile, the request is sent again.
      this.state = 'sent'
      return
    }
    const send = () => {
      this.state = 'sent'
      posting.onSent?.()
    }
    if (isTls(posting)) {
      socket.once('connect', () => {
        this.state = 'securing'
      })
      socket.once('secureConnect', send)
    } else socket.once('connect', send)
  }

  /** The parser sees each piece first, so the piece that completes the head is not counted here. */
  private readonly count = ({ length }: Buffer): void => {
    if (this.state === 'answered') return
    this.received += length
    this.limitHead(this.received)
  }

  private countHead(head: Head): void {
    this.headBytes += sizeOf(head)
    this.limitHead(this.headBytes)
  }

  private limitHead(bytes: number): void {
    if (bytes <= maxHeadBytes) return
    this.fail(new Error("The response's head is too long"))
    this.request.destroy()
  }

  private fail(error: NodeJS.ErrnoException): void {
    if (this.state === 'answered') return
    const detail = detailOf(error, this.state === 'securing')
    const isStale = this.request.reusedSocket && this.received === 0 && detail === 'reset'
    if (isStale) this.outcome.reject(new ConnectionError(detail, 'a new connection'))
    else this.outcome.reject(new ConnectionError(detail, this.isUnsent() ? 'another address' : 'nothing'))
  }

  private succeed(message: http.IncomingMessage): void {
    const { statusCode = null, headers, socket } = message
    this.countHead(message)
    this.state = 'answered'
    // The connection may be reused for another post afterwards, so this post's listeners are detached.
    const detach = () => {
      socket.off('data', this.count)
      this.over.removeEventListener('abort', this.abort)
    }
    // Changes nothing if the head was too long.
    this.outcome.resolve({
      head: {
        status: statusCode,
        detail: redirects.has(statusCode) ? 'redirect' : null,
        redirectOrigin: redirects.has(statusCode) ? originOf(headers.location, this.url) : null,
        retryAfterSeconds: parseRetryAfter(headers['retry-after']),
      },
      bodyEnd: readBody(message).finally(detach),
    })
  }
}

/**
 * Idle connections are kept open for a few seconds, by address, port and name, because opening a connection costs more
 * than posting a hint.
 */
const keeping = { keepAlive: true, maxFreeSockets: 10, timeout: keptMilliseconds }
const agents = { http: new http.Agent(keeping), https: new https.Agent(keeping) }

/** Opens a request to an address, reusing an idle connection if possible. */
function openRequest(posting: PostRequest, { address, mayReuse }: Target): http.ClientRequest {
  const { url, headers, body, ca } = posting
  const agent = isTls(posting) ? agents.https : agents.http
  return (isTls(posting) ? https : http).request({
    host: address,
    port: url.port || (isTls(posting) ? 443 : 80),
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    maxHeaderSize: maxHeadBytes,
    agent: mayReuse ? agent : false,
    headers: { host: url.host, 'content-length': Buffer.byteLength(body), ...headers },
    ...(literalAddress(url) === null ? { servername: url.hostname } : {}),
    ...(ca ? { ca } : {}),
  })
}

function isTls({ url }: PostRequest): boolean {
  return url.protocol === 'https:'
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

/** Statuses that send a client to another address. */
const redirects = new Set<number | null>([301, 302, 303, 307, 308])
/** Longer than any origin: a host has at most 253 characters. */
const maxOriginLength = 300

/** Returns the origin of a `Location`, which may be relative to `url`; null if it is not an address of the web. */
function originOf(location: string | undefined, url: URL): string | null {
  const target = location === undefined ? null : URL.parse(location, url)
  if (!target || !/^https?:$/.test(target.protocol)) return null
  return target.origin.length <= maxOriginLength ? target.origin : null
}

/** What is wrong with a certificate, by the error's code. */
const certificateFaults: Record<string, CertificateFault> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'chain_incomplete',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'name_mismatch',
  CERT_HAS_EXPIRED: 'expired',
}

/**
 * Classifies a connection error; returns null if its cause is unknown.
 *
 * @param isHandshake true between the TCP connection and the end of the TLS handshake
 */
function detailOf({ code, message }: NodeJS.ErrnoException, isHandshake: boolean): ConnectionDetail | null {
  if (code === 'ECONNREFUSED') return 'refused'
  if (code === 'ECONNRESET' || code === 'EPIPE' || message === 'socket hang up') return 'reset'
  if (!isHandshake || code === undefined) return null
  return certificateFaults[code] ?? 'tls'
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
