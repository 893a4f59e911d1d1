import * as http from 'node:http'
import * as https from 'node:https'
import { isIP } from 'node:net'
import { isPublicAddress, literalAddress } from './address.ts'

/** Why there was no response. */
export type PostFailure = 'timeout' | 'connection' | 'address'
/** What went wrong with a connection, as far as it is known. */
export type ConnectionDetail = 'refused' | 'reset' | 'tls' | 'dns'

/** The outcome of one post. */
export interface PostResult {
  /** Null where there was no response. */
  status: number | null
  failure: PostFailure | null
  /** Beside the failure `connection`; otherwise null. */
  detail: ConnectionDetail | null
  milliseconds: number
  /** The pause that the response asks for; null for none. */
  retryAfterSeconds: number | null
}

/** Finds the addresses of a name. */
export type Lookup = (hostname: string) => Promise<string[]>

/** How a request is sent. */
export interface Posting {
  url: URL
  headers: Record<string, string>
  body: string
  /** Private addresses and plain `http` are allowed too: for development. */
  allowsPrivate: boolean
  lookup?: Lookup
  /** Certificates of other authorities. */
  ca?: string
}

/** For the whole try, from the look-up of the name to the response. */
const timeoutMilliseconds = 15_000
/** For the connection to one address, while there are others. */
const connectMilliseconds = 5000
/** Of everything that a receiver sends, interim responses such as 103 included: those could go on for ever. */
const maxBytes = 64 * 1024
const maxAddresses = 4

class AddressError extends Error {}

/** A connection failed, and what is known of why. */
class ConnectionError extends Error {
  constructor(
    readonly detail: ConnectionDetail | null,
    /** Whether no connection came about, so that nothing was sent. */
    readonly isUnsent: boolean,
  ) {
    super('The connection failed')
  }
}

/** Asks without a thread: those of the system's own way are few, and silent name servers would hold them all. */
const systemLookup: Lookup = async (hostname) =>
  (await Bun.dns.lookup(hostname, { backend: 'c-ares' })).map(({ address }) => address)

/**
 * Posts a hint. The addresses of the name are looked up once, each of them is checked, and the connection goes to one that
 * was: so no name can move between check and use. Redirects are not followed, proxies not asked, and of the response only
 * its head is read. Not more than 64 KiB are read in all.
 */
export async function postHint(sending: Posting): Promise<PostResult> {
  const start = performance.now()
  const done = (more: Partial<PostResult>): PostResult => ({
    ...{ status: null, failure: null, detail: null, retryAfterSeconds: null },
    ...more,
    milliseconds: Math.round(performance.now() - start),
  })
  // Once the try is over nothing more is looked up, opened or written, and what is open is closed.
  const over = new AbortController()
  const timeout = Promise.withResolvers<'timeout'>()
  const timer = setTimeout(() => timeout.resolve('timeout'), timeoutMilliseconds)
  try {
    const head = await Promise.race([exchange(sending, over.signal), timeout.promise])
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
 * The addresses to try, in this order.
 *
 * @throws AddressError for a name of which any address is private
 */
async function addressesOf({ url, allowsPrivate, lookup = systemLookup }: Posting): Promise<string[]> {
  const literal = literalAddress(url)
  const found = literal === null ? await lookup(url.hostname).catch(() => []) : [literal]
  if (found.length === 0) throw new ConnectionError('dns', true)
  if (!allowsPrivate && !found.every(isPublicAddress)) throw new AddressError('The address is private')
  // Not every machine has a way to IPv6 addresses.
  return found.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, maxAddresses)
}

type Response = Pick<PostResult, 'status' | 'retryAfterSeconds'>

/** Posts to the first address that takes a connection. */
async function exchange(sending: Posting, over: AbortSignal): Promise<Response> {
  const hosts = await addressesOf(sending)
  for (const [index, host] of hosts.entries()) {
    over.throwIfAborted()
    const isLast = index === hosts.length - 1
    try {
      return await post(sending, host, over, isLast ? timeoutMilliseconds : connectMilliseconds)
    } catch (error) {
      if (isLast || !(error instanceof ConnectionError && error.isUnsent)) throw error
    }
  }
  throw new ConnectionError('dns', true)
}

/** @throws ConnectionError, also if the address takes no connection within a time */
function post(
  { url, headers, body, ca }: Posting,
  host: string,
  over: AbortSignal,
  connectWithin: number,
): Promise<Response> {
  const isTls = url.protocol === 'https:'
  const request = (isTls ? https : http).request({
    ...{ host, port: url.port || (isTls ? 443 : 80), method: 'POST', path: `${url.pathname}${url.search}` },
    headers: { host: url.host, connection: 'close', 'content-length': Buffer.byteLength(body), ...headers },
    ...{ agent: false, signal: over, maxHeaderSize: maxBytes },
    ...(literalAddress(url) === null ? { servername: url.hostname } : {}),
    ...(ca ? { ca } : {}),
  })
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  let [isReached, isConnected] = [false, false]
  const fail = (error: NodeJS.ErrnoException) => {
    const detail = detailOf(error, isTls && isReached && !isConnected)
    reject(new ConnectionError(detail, !isConnected))
  }
  const timer = setTimeout(() => isConnected || request.destroy(new Error('No connection')), connectWithin)
  request.on('socket', (socket) => {
    socket.once('connect', () => {
      isReached = true
      isConnected ||= !isTls
    })
    socket.once('secureConnect', () => {
      isConnected = true
    })
    let bytes = 0
    socket.on('data', ({ length }) => {
      bytes += length
      if (bytes > maxBytes) request.destroy(new Error('The response is too large'))
    })
  })
  const end = ({ statusCode, headers, socket }: http.IncomingMessage) => {
    resolve({ status: statusCode ?? null, retryAfterSeconds: parseRetryAfter(headers['retry-after']) })
    socket.destroy()
  }
  request.on('response', end)
  request.on('upgrade', end)
  request.on('error', fail)
  request.on('close', () => clearTimeout(timer))
  request.end(body)
  return promise
}

/** @param isHandshake true between the connection and the end of its handshake */
function detailOf({ code, message }: NodeJS.ErrnoException, isHandshake: boolean): ConnectionDetail | null {
  if (code === 'ECONNREFUSED') return 'refused'
  if (code === 'ECONNRESET' || code === 'EPIPE' || message === 'socket hang up') return 'reset'
  return isHandshake && code !== undefined ? 'tls' : null
}

/** The longest value that is looked at: a date as HTTP writes it has 29 characters. */
const maxLength = 40

/** Seconds that a `Retry-After` asks to wait, whether a number or a date as HTTP writes it; null for anything else. */
export function parseRetryAfter(value: string | null | undefined): number | null {
  const text = value?.trim() ?? ''
  if (text.length > maxLength) return null
  if (/^\d+$/.test(text)) return Number(text) || null
  const seconds = text.endsWith(' GMT') ? (Date.parse(text) - Date.now()) / 1000 : 0
  return seconds > 0 ? seconds : null
}
