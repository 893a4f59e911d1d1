import * as http from 'node:http'
import * as https from 'node:https'
import { isIP, type Socket } from 'node:net'
import { isPublicAddress, literalAddress } from './address.ts'

/** Resolves a name to its IP addresses. */
export type Lookup = (hostname: string) => Promise<string[]>

/** A request to a server that others have named. */
export interface OutgoingRequest {
  url: URL
  method: 'GET' | 'POST'
  headers: Record<string, string>
  /** Empty for a `GET`. */
  body: string
  /** True to also allow private addresses, for development. */
  allowsPrivate: boolean
  /** True to reuse an idle connection, and to keep this one for a few seconds after the response. */
  keepsConnection: boolean
  lookup?: Lookup | undefined
  /** Called once the request has been sent and will not be sent again. */
  onSent?: (() => void) | undefined
  /** Additional CA certificates to trust. */
  ca?: string | undefined
}

/** What the caller makes of a response whose head is complete. */
export interface Received {
  /** Resolves once nothing more is read from the connection. */
  bodyEnd: Promise<unknown>
}

/** What is wrong with a certificate; the first three can be wrong with a certificate that has not expired. */
export type CertificateFault = 'chain_incomplete' | 'untrusted' | 'name_mismatch' | 'expired'
/** Known causes of a failed connection; `tls` if a handshake failed for another reason than a certificate's fault. */
export type ConnectionDetail = 'refused' | 'reset' | 'tls' | 'dns' | CertificateFault

/** Error thrown if a host is, or resolves to, a private address. */
export class AddressError extends Error {}

/** Error thrown if a connection fails, with the cause if it is known. */
export class ConnectionError extends Error {
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

/** Time limit for connecting to an address while other addresses are left to try. */
const connectMilliseconds = 5000
/** Maximum size of a response's head, including interim responses such as 103, which a server could send forever. */
const maxHeadBytes = 64 * 1024
const maxAddresses = 4
/**
 * How long an idle connection is kept open; less than the 5 s after which typical servers close idle connections.
 */
const keptMilliseconds = 4000

/** Resolves names without the system resolver, because unresponsive name servers could block its few threads. */
const systemLookup: Lookup = async (hostname) =>
  (await Bun.dns.lookup(hostname, { backend: 'c-ares' })).map(({ address }) => address)

/**
 * Sends a request to the first address that can be connected to. The name is resolved once, every address is checked,
 * and the connection goes to a checked address. Otherwise, a name could resolve to a public address when it is checked
 * and to one of our own network when it is used (decisions §21). A kept connection is reused only for the same address
 * and name; if the server resets it before it responds, perhaps because it was idle for too long, the request is
 * repeated once over a new connection. Redirects are not followed and proxies are not used.
 *
 * @param over ends everything: afterwards, nothing more is looked up, opened or written, and unfinished connections are
 *   closed. The caller limits the time of a request with it
 * @param receive is called as soon as the response's head is complete, and reads or closes what follows
 * @throws AddressError, ConnectionError
 */
export async function sendRequest<T extends Received>(
  request: OutgoingRequest,
  over: AbortSignal,
  receive: (message: http.IncomingMessage) => T,
): Promise<T> {
  const addresses = await addressesOf(request)
  const last = addresses.length - 1
  const targets: Target[] = addresses.map((address, index) => ({
    address,
    connectWithinMilliseconds: index === last ? null : connectMilliseconds,
    mayReuse: request.keepsConnection,
  }))
  for (let target = targets.shift(); target; target = targets.shift()) {
    over.throwIfAborted()
    try {
      return await new CheckedConnection(request, target, over, receive).received
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
async function addressesOf({
  url,
  allowsPrivate,
  lookup = systemLookup,
}: OutgoingRequest): Promise<string[]> {
  const literal = literalAddress(url)
  const found = literal === null ? await lookup(url.hostname).catch(() => []) : [literal]
  if (found.length === 0) throw new ConnectionError('dns', 'nothing')
  if (!allowsPrivate && !found.every(isPublicAddress)) throw new AddressError('The address is private')
  // IPv4 addresses come first because not every machine can reach IPv6 addresses.
  return found.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, maxAddresses)
}

/** An address to connect to. */
interface Target {
  address: string
  /** Time limit for connecting; null if only the whole request has one. */
  connectWithinMilliseconds: number | null
  /** True if an idle connection may be reused. */
  mayReuse: boolean
}

/**
 * One request over one connection to one address.
 *
 *     connecting ── over TLS ──▶ securing ──▶ sent ── the response's head is complete ──▶ answered
 *         └──────── without TLS ───────────────▲
 *
 * A reused connection begins as `sent`. An error ends any state but `answered`, in which the caller has the response
 * and reads its body. In `connecting` and `securing`, nothing has been sent yet, so another address may be tried.
 */
class CheckedConnection<T extends Received> {
  /**
   * Resolves with what the caller made of the response.
   *
   * @throws ConnectionError, for example if connecting takes longer than the target's time limit
   */
  readonly received: Promise<T>
  private state: 'connecting' | 'securing' | 'sent' | 'answered' = 'connecting'
  private readonly outcome = Promise.withResolvers<T>()
  private readonly request: http.ClientRequest
  /** Bytes received so far, without those received together with the end of the head. */
  private receivedBytes = 0
  /** Size of the complete heads so far: those of interim responses and, last, the final one. */
  private headBytes = 0

  constructor(
    outgoing: OutgoingRequest,
    target: Target,
    private readonly over: AbortSignal,
    private readonly receive: (message: http.IncomingMessage) => T,
  ) {
    this.received = this.outcome.promise
    this.request = openRequest(outgoing, target)
    if (target.connectWithinMilliseconds !== null) this.limitConnecting(target.connectWithinMilliseconds)
    // A listener costs less than the request's own `signal` option.
    over.addEventListener('abort', this.abort)
    this.request.on('socket', (socket) => this.connect(socket, outgoing))
    this.request.on('information', (head) => this.countHead(head))
    this.request.on('response', (message) => this.succeed(message))
    this.request.on('upgrade', (message) => this.succeed(message))
    this.request.on('error', (error) => this.fail(error))
    this.request.end(outgoing.body)
  }

  private limitConnecting(milliseconds: number): void {
    const timer = setTimeout(() => {
      if (this.isUnsent()) this.request.destroy(new Error('No connection'))
    }, milliseconds)
    this.request.on('close', () => clearTimeout(timer))
  }

  private isUnsent(): boolean {
    return this.state === 'connecting' || this.state === 'securing'
  }

  private readonly abort = (): void => {
    this.request.destroy()
  }

  /** Follows a socket from its connection to the first bytes of the response. */
  private connect(socket: Socket, outgoing: OutgoingRequest): void {
    socket.on('data', this.count)
    if (this.request.reusedSocket) {
      // If the server has closed the connection meanwhile, the request is sent again.
      this.state = 'sent'
      return
    }
    const send = () => {
      this.state = 'sent'
      outgoing.onSent?.()
    }
    if (isTls(outgoing)) {
      socket.once('connect', () => {
        this.state = 'securing'
      })
      socket.once('secureConnect', send)
    } else socket.once('connect', send)
  }

  /** The parser sees each piece first, so the piece that completes the head is not counted here. */
  private readonly count = ({ length }: Buffer): void => {
    if (this.state === 'answered') return
    this.receivedBytes += length
    this.limitHead(this.receivedBytes)
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
    const isStale = this.request.reusedSocket && this.receivedBytes === 0 && detail === 'reset'
    if (isStale) this.outcome.reject(new ConnectionError(detail, 'a new connection'))
    else this.outcome.reject(new ConnectionError(detail, this.isUnsent() ? 'another address' : 'nothing'))
  }

  private succeed(message: http.IncomingMessage): void {
    const { socket } = message
    this.countHead(message)
    this.state = 'answered'
    const received = this.receive(message)
    // The connection may be reused for another request afterwards, so this request's listeners are detached.
    const detach = () => {
      socket.off('data', this.count)
      this.over.removeEventListener('abort', this.abort)
    }
    received.bodyEnd.then(detach, detach)
    // Changes nothing if the head was too long.
    this.outcome.resolve(received)
  }
}

/**
 * Idle connections are kept open for a few seconds, by address, port and name, because opening a connection costs more
 * than a small request.
 */
const keeping = { keepAlive: true, maxFreeSockets: 10, timeout: keptMilliseconds }
const agents = { http: new http.Agent(keeping), https: new https.Agent(keeping) }

/** Opens a request to an address, reusing an idle connection if possible. */
function openRequest(outgoing: OutgoingRequest, { address, mayReuse }: Target): http.ClientRequest {
  const { url, method, headers, body, ca } = outgoing
  const agent = isTls(outgoing) ? agents.https : agents.http
  return (isTls(outgoing) ? https : http).request({
    host: address,
    port: url.port || (isTls(outgoing) ? 443 : 80),
    method,
    path: `${url.pathname}${url.search}`,
    maxHeaderSize: maxHeadBytes,
    agent: mayReuse ? agent : false,
    headers: {
      host: url.host,
      ...(method === 'POST' ? { 'content-length': Buffer.byteLength(body) } : {}),
      ...headers,
    },
    ...(literalAddress(url) === null ? { servername: url.hostname } : {}),
    ...(ca ? { ca } : {}),
  })
}

function isTls({ url }: OutgoingRequest): boolean {
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

/** Statuses that send a client to another address. */
const redirects = new Set<number | undefined>([301, 302, 303, 307, 308])

/** Returns true for the status of a redirect. */
export function isRedirect(status: number | undefined): boolean {
  return redirects.has(status)
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
