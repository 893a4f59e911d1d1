import { DomainError, invalidField } from '../core/errors.ts'
import type { Access } from './access.ts'
import { ByteBudget, collectGarbageOccasionally } from './memory.ts'

/** Maximum nesting depth of a body. Real listings need five levels. */
const maxDepth = 64
/** Maximum number of values in a body, including unknown fields. A two-byte value may take up 200 bytes once parsed. */
const maxValues = 100_000

/**
 * Reads a request body as a JSON object, whatever its `Content-Type` (decisions §1).
 *
 * @param hostId id of the host that owns the request's key
 * @param maxBytes size limit; a body whose declared length exceeds this limit is refused without being read
 * @param kind `optional` reads a missing body as an empty object; `bookings` also accepts one booking per line
 * @throws DomainError `body_too_large` (413), `body_too_slow` (408), `validation` (422) with path `body`, or `conflict`
 * with a retry time
 */
export async function readJsonObject(
  request: Request,
  hostId: number,
  maxBytes: number,
  kind: Access['body'] = 'json',
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, hostId, maxBytes)
  requireUncompressed(request.headers)
  if (kind === 'optional' && bytes.byteLength === 0) return {}
  collectGarbageOccasionally(bytes.byteLength)
  const value = parse(bytes, kind === 'bookings' ? parseBookings : JSON.parse)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField('body', 'The body must be a JSON object')
  }
  return value as Record<string, unknown>
}

/**
 * Without this check, a compressed body would be called malformed JSON, and a plain body that is labelled as compressed
 * would be accepted.
 *
 * @throws DomainError `validation` at `body`, naming the encodings; a name that may be something else is not repeated
 */
function requireUncompressed(headers: Headers): void {
  const encodings = (headers.get('content-encoding') ?? '')
    .split(',')
    .map((encoding) => encoding.trim().toLowerCase())
    .filter((encoding) => encoding !== '' && encoding !== 'identity')
  if (encodings.length === 0) return
  const isShown =
    encodings.length <= 3 && encodings.every((encoding) => /^[a-z][a-z0-9-]{0,19}$/.test(encoding))
  const named = isShown ? `; "Content-Encoding" was "${encodings.join(', ')}"` : ''
  throw invalidField('body', `The body must be sent uncompressed, without "Content-Encoding"${named}`)
}

/** Time limit for receiving a body. Without it, a body that trickles in would keep its request open forever. */
const bodyTimeoutMilliseconds = 30_000

/**
 * Reads the body chunk by chunk, regardless of its declared length. The server stops reading from the socket while no
 * chunk is requested, so no more than the limit is ever in memory.
 */
async function readBytes(request: Request, hostId: number, maxBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (Number(declared) > maxBytes) throw tooLarge(maxBytes)
  if (declared === null && !request.headers.has('transfer-encoding') && !request.body) return new Uint8Array()
  // A client that has disconnected sends nothing more, so its partial body is abandoned immediately.
  const over = new AbortController()
  const abort = () => over.abort()
  const timer = setTimeout(abort, bodyTimeoutMilliseconds)
  if (request.signal.aborted) abort()
  request.signal.addEventListener('abort', abort)
  const reserve = async (bytes: number) => {
    if (bytes > smallBodyBytes) bodyReleases.set(request, await reserveBodyBytes(hostId, bytes, over.signal))
  }
  let chunks: AsyncIterator<Uint8Array> | undefined
  try {
    if (declared !== null) await reserve(Number(declared))
    // The body is accessed only after the reservation, because accessing it makes the server start reading.
    chunks = request.body?.[Symbol.asyncIterator]()
    if (!chunks) return new Uint8Array()
    const reading = readAll(chunks, maxBytes, declared === null ? reserve : undefined)
    return await Promise.race([reading, whenAborted(over.signal)])
  } catch (error) {
    chunks?.return?.().catch(() => {})
    throw error
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', abort)
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  const end = () => reject(tooSlow())
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  return promise
}

/** Bodies up to this size never wait, because even many of them take up little memory. */
const smallBodyBytes = 64 * 1024

/**
 * Limits for larger bodies that are being read or processed. They apply per host rather than per key, because a host
 * may have many keys. The server has already buffered about a megabyte of each waiting body, so the number of waiting
 * bodies is limited too.
 */
const bodies = new ByteBudget({
  ofOwner: 16 * 1024 * 1024,
  ofProcess: 96 * 1024 * 1024,
  waitingOfOwner: 4,
  waiting: 64,
})

/** Functions that release the bytes reserved for a request's body, by request. */
const bodyReleases = new WeakMap<Request, () => void>()

/**
 * Waits until a body of this size may be read. Until then, no more of the body is read from the connection; otherwise,
 * a few hosts could fill the process's memory.
 *
 * @param signal ends the wait once the body's time limit expires or the client disconnects
 * @returns a function that releases the reserved bytes
 * @throws DomainError `conflict` with a retry time if too many bodies are waiting or `signal` ended the wait
 */
export async function reserveBodyBytes(
  hostId: number,
  bytes: number,
  signal: AbortSignal,
): Promise<() => void> {
  const release = await bodies.await(hostId, bytes, signal)
  if (release) return release
  throw new DomainError('conflict', 'Too many large bodies are being sent concurrently; try again', [], 1)
}

/**
 * Releases the memory held by a request's body. An unread body is discarded; otherwise, the server would keep the
 * received part in memory for a long time.
 */
export function releaseBody(request: Request): void {
  const { body } = request
  if (body && !body.locked) body.cancel().catch(() => {})
  bodyReleases.get(request)?.()
}

/** @param reserve called once with `maxBytes` when a body of undeclared length exceeds `smallBodyBytes` */
async function readAll(
  chunks: AsyncIterator<Uint8Array>,
  maxBytes: number,
  reserve?: (bytes: number) => Promise<void>,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await chunks.next()
    if (done) return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
    if (size <= smallBodyBytes && size + value.byteLength > smallBodyBytes) await reserve?.(maxBytes)
    size += value.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    parts.push(value)
  }
}

function tooSlow(): DomainError {
  const message = `The body did not arrive within ${bodyTimeoutMilliseconds / 1000} s`
  return new DomainError('body_too_slow', message, [{ path: 'body', code: 'invalid', message }])
}

/** Unread bodies up to this size are tolerated, so that the connection can be reused. */
const maxUnreadBytes = 64 * 1024

/**
 * Returns true if the service would not drain the request's body. The connection of such a request is closed unless a
 * route reads the entire body.
 */
export function leavesBodyUnread({ headers, method }: Request): boolean {
  if (method === 'GET' || method === 'HEAD')
    return headers.has('transfer-encoding') || headers.has('content-length')
  return headers.has('transfer-encoding') || Number(headers.get('content-length')) > maxUnreadBytes
}

function tooLarge(maxBytes: number): DomainError {
  const message = `The body must be at most ${maxBytes} bytes`
  return new DomainError('body_too_large', message, [{ path: 'body', code: 'max', message }])
}

/** Maximum number of lines that are parsed. The schema rejects a list of this length anyway. */
const maxLines = 10_001

/** Parses text with one booking per line into an object with `bookings`, and any other text as a single JSON value. */
function parseBookings(text: string): unknown {
  // Lines are found one at a time, because splitting a text into ten million lines would take a second.
  const lines = text.matchAll(/\S[^\n]*/g)
  const first = parseIfJson(lines.next().value?.[0] ?? '')
  if (typeof first !== 'object' || first === null || !('booking_id' in first)) return JSON.parse(text)
  const bookings = [first]
  for (const [line] of lines) {
    bookings.push(JSON.parse(line))
    if (bookings.length === maxLines) break
  }
  return { bookings }
}

/** Returns undefined for a line that is not JSON, such as the first line of a multi-line document. */
function parseIfJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return
  }
}

function parse(bytes: Uint8Array, read: (text: string) => unknown): unknown {
  const { depth, values } = measure(bytes)
  if (depth > maxDepth) throw invalidField('body', `The body must not nest deeper than ${maxDepth} levels`)
  if (values > maxValues)
    throw invalidField('body', `The body must contain at most ${maxValues} values`, 'max')
  try {
    return read(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw invalidField('body', 'The body must be JSON in UTF-8')
  }
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket, comma] = Buffer.from(
  '"\\{}[],',
) as unknown as [number, number, number, number, number, number, number]

/**
 * Returns a JSON text's nesting depth and an upper bound on its number of values, without parsing the text. The
 * contents of strings do not count.
 */
function measure(bytes: Uint8Array): { depth: number; values: number } {
  let values = 1
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (inString) {
      if (byte === backslash) at += 1
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (byte === comma) values += 1
    else if (byte === openBrace || byte === openBracket) {
      values += 1
      deepest = Math.max(deepest, ++depth)
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1
  }
  return { depth: deepest, values }
}
