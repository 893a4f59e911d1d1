import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { withTimeout } from '../platform/timeout.ts'
import { isPublicAddress, literalAddress } from './address.ts'
import { HeadReader, type ResponseHead } from './response-head.ts'

/** Why there was no response. */
export type SendFailure = 'timeout' | 'connection' | 'address'

/** What became of one try. */
export interface SendResult {
  /** Null where there was no response. */
  status: number | null
  failure: SendFailure | null
  milliseconds: number
  /** What the response asks to wait; null for nothing. */
  retryAfterSeconds: number | null
}

/** Finds the addresses of a name. */
export type Lookup = (hostname: string) => Promise<string[]>

/** How a request is sent. */
export interface Sending {
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
/** For one address, while there are others. */
const connectMilliseconds = 5000
const mostAddresses = 4

class AddressError extends Error {}

/** Asks without a thread: those of the system's own way are few, and silent name servers would hold them all. */
const systemLookup: Lookup = async (hostname) =>
  (await Bun.dns.lookup(hostname, { backend: 'c-ares' })).map(({ address }) => address)

/**
 * Posts a hint. The addresses of the name are looked up once, each of them is checked, and the connection goes to one that
 * was: so no name can move between check and use. Redirects are not followed, proxies not asked, and of the response only
 * its head is read, up to 64 KiB.
 */
export async function sendHint(sending: Sending): Promise<SendResult> {
  const start = performance.now()
  const done = (more: Partial<SendResult>): SendResult => ({
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
async function addressesOf({ url, allowsPrivate, lookup = systemLookup }: Sending): Promise<string[]> {
  const literal = literalAddress(url)
  const found = literal === null ? await lookup(url.hostname) : [literal]
  if (!allowsPrivate && !found.every(isPublicAddress)) throw new AddressError('The address is private')
  // Not every machine has a way to IPv6 addresses.
  return found.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, mostAddresses)
}

async function exchange(sending: Sending, over: AbortSignal) {
  const socket = await connect(sending, over)
  over.throwIfAborted()
  const { url, headers, body } = sending
  const lines = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    'connection: close',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const head = readHead(socket)
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  return head
}

/** Connects to the first address that takes a connection. */
async function connect(sending: Sending, over: AbortSignal): Promise<Socket> {
  let failure: unknown = new Error('The name has no address')
  const hosts = await addressesOf(sending)
  for (const [index, host] of hosts.entries()) {
    over.throwIfAborted()
    const socket = open(sending, host)
    socket.on('error', () => {})
    over.addEventListener('abort', () => socket.destroy())
    try {
      const event = sending.url.protocol === 'https:' ? 'secureConnect' : 'connect'
      const connected = whenConnected(socket, event)
      await (index < hosts.length - 1 ? withTimeout(connected, connectMilliseconds) : connected)
      return socket
    } catch (error) {
      failure = error
      socket.destroy()
    }
  }
  throw failure
}

function open({ url, ca }: Sending, host: string): Socket {
  const isTls = url.protocol === 'https:'
  const port = Number(url.port || (isTls ? 443 : 80))
  if (!isTls) return connectTcp({ host, port })
  const servername = literalAddress(url) === null ? { servername: url.hostname } : {}
  const certificates = { rejectUnauthorized: true, ...(ca ? { ca } : {}) }
  return connectTls({ host, port, ...servername, ...certificates, ALPNProtocols: ['http/1.1'] })
}

function whenConnected(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('The connection was closed')))
  })
}

/** Reads up to the end of the response's head; what comes after it is not read. */
function readHead(socket: Socket): Promise<ResponseHead> {
  const reader = new HeadReader()
  return new Promise((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      try {
        const head = reader.push(chunk)
        if (head) resolve(head)
      } catch (error) {
        // Nothing more of it is worth a look.
        socket.destroy()
        reject(error)
      }
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The connection was closed')))
  })
}
