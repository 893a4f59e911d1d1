import * as http from 'node:http'
import * as https from 'node:https'
import { isIP } from 'node:net'
import { parseRetryAfter } from '../../http/retry-after.ts'
import { isPublicAddress, literalAddress } from './address.ts'

/** Why there was no response. */
export type PostFailure = 'timeout' | 'connection' | 'address'

/** The outcome of one post. */
export interface PostResult {
  /** Null where there was no response. */
  status: number | null
  failure: PostFailure | null
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
const maxHeadBytes = 64 * 1024
const maxAddresses = 4

class AddressError extends Error {}

/** Asks without a thread: those of the system's own way are few, and silent name servers would hold them all. */
const systemLookup: Lookup = async (hostname) =>
  (await Bun.dns.lookup(hostname, { backend: 'c-ares' })).map(({ address }) => address)

/**
 * Posts a hint. The addresses of the name are looked up once, each of them is checked, and the connection goes to one that
 * was: so no name can move between check and use. Redirects are not followed, proxies not asked, and of the response only
 * its head is read, up to 64 KiB.
 */
export async function postHint(sending: Posting): Promise<PostResult> {
  const start = performance.now()
  const done = (more: Partial<PostResult>): PostResult => ({
    ...{ status: null, failure: null, retryAfterSeconds: null },
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
    return done({ failure: error instanceof AddressError ? 'address' : 'connection' })
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
  const found = literal === null ? await lookup(url.hostname) : [literal]
  if (!allowsPrivate && !found.every(isPublicAddress)) throw new AddressError('The address is private')
  // Not every machine has a way to IPv6 addresses.
  return found.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, maxAddresses)
}

type Response = Pick<PostResult, 'status' | 'retryAfterSeconds'>

/** An address took no connection, so that nothing was sent to it. */
class ConnectError extends Error {}

/** Posts to the first address that takes a connection. */
async function exchange(sending: Posting, over: AbortSignal): Promise<Response> {
  const hosts = await addressesOf(sending)
  for (const [index, host] of hosts.entries()) {
    over.throwIfAborted()
    const isLast = index === hosts.length - 1
    try {
      return await post(sending, host, over, isLast ? timeoutMilliseconds : connectMilliseconds)
    } catch (error) {
      if (isLast || !(error instanceof ConnectError)) throw error
    }
  }
  throw new Error('The name has no address')
}

/** @throws ConnectError where the address took no connection within a time */
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
    ...{ agent: false, signal: over, maxHeaderSize: maxHeadBytes },
    ...(literalAddress(url) === null ? { servername: url.hostname } : {}),
    ...(ca ? { ca } : {}),
  })
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  let isConnected = false
  const timer = setTimeout(() => isConnected || request.destroy(new ConnectError()), connectWithin)
  request.on('socket', (socket) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      isConnected = true
    })
  })
  const end = ({ statusCode, headers, socket }: http.IncomingMessage) => {
    resolve({ status: statusCode ?? null, retryAfterSeconds: parseRetryAfter(headers['retry-after']) })
    socket.destroy()
  }
  request.on('response', end)
  request.on('upgrade', end)
  request.on('error', (error) => reject(isConnected ? error : new ConnectError(error.message)))
  request.on('close', () => clearTimeout(timer))
  request.end(body)
  return promise
}
