import { DomainError, invalidField } from '../../core/errors.ts'
import type { Access } from '../access.ts'
import { collectGarbageOccasionally } from '../byte-budget.ts'
import { BodyBudget, type BodyShare, tooManyBodies } from './body-budget.ts'
import type { IncomingBody } from './incoming-body.ts'
import { mayStayUnread } from './unread-body.ts'

/** Maximum nesting depth of a body. Real listings need five levels. */
const maxDepth = 64
/** Maximum number of values in a body, including unknown fields. A two-byte value may take up 200 bytes once parsed. */
const maxValues = 100_000

/** How a body is read. */
interface ReadingRules {
  /** Id of the host that owns the request's key. */
  hostId: number
  /** Size limit; a body whose declared length exceeds this limit is refused without being read. */
  maxBytes: number
  /** `optional` reads a missing body as an empty object; `bookings` also accepts one booking per line. */
  kind: Access['body']
}

/**
 * Reads a request body as a JSON object, whatever its `Content-Type` (decisions §1).
 *
 * @throws DomainError `body_too_large` (413), `body_too_slow` (408), `validation` (422) with path `body`, or `conflict`
 * with a retry time
 */
export async function readJsonObject(
  budget: BodyBudget,
  body: IncomingBody,
  { hostId, maxBytes, kind }: ReadingRules,
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(budget, body, { hostId, maxBytes })
  requireUncompressed(body.request.headers)
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

/** Bodies up to this size never wait, because even many of them take up little memory. */
const smallBodyBytes = 64 * 1024

/** A larger body that arrives more slowly than this is ended while others wait for memory. */
const leastBytesPerSecond = 64 * 1024

/**
 * Returns the memory of a process for larger bodies that are being read or processed. The limits apply per host rather than per key, because
 * a host may have many keys. The server has already buffered about a megabyte of each waiting body, so the number of
 * waiting bodies is limited too.
 */
export function newBodyBudget(): BodyBudget {
  return new BodyBudget({
    ofHost: 16 * 1024 * 1024,
    ofProcess: 96 * 1024 * 1024,
    waitingOfHost: 4,
    waiting: 64,
    patienceMilliseconds: 1000,
    leastBytesPerSecond,
  })
}

/** Reads the body piece by piece, regardless of its declared length, so that no more than the limit is in memory. */
async function readBytes(
  budget: BodyBudget,
  body: IncomingBody,
  { hostId, maxBytes }: Pick<ReadingRules, 'hostId' | 'maxBytes'>,
): Promise<Uint8Array> {
  const { signal } = body.request
  if (body.declaredBytes !== null && body.declaredBytes > maxBytes) throw tooLarge(maxBytes)
  if (body.isAbsent) return new Uint8Array()
  const reception = new Reception(budget, body, hostId, maxBytes)
  // A client that has disconnected sends nothing more, so its partial body is abandoned immediately.
  const abort = () => reception.end(disconnected())
  const timer = setTimeout(() => reception.end(tooLate()), bodyTimeoutMilliseconds)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([reception.readAll(), reception.ended])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** A body while it is being read into memory. */
class Reception {
  private readonly ending = Promise.withResolvers<never>()
  private share: BodyShare | undefined
  private hasEnded = false
  private size = 0

  constructor(
    private readonly budget: BodyBudget,
    private readonly body: IncomingBody,
    private readonly hostId: number,
    private readonly maxBytes: number,
  ) {
    this.ended.catch(() => {})
  }

  /** Rejects if the body is ended before it is complete. */
  get ended(): Promise<never> {
    return this.ending.promise
  }

  /** Ends the body, with a retry time if it is late only because it had to wait for memory. */
  end(error: DomainError): void {
    this.hasEnded = true
    this.ending.reject(this.share?.isWaiting() ? tooManyBodies() : error)
    this.share?.release()
  }

  async readAll(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for (;;) {
      const piece = await this.body.next()
      if (this.hasEnded) return this.ended
      if (!piece) break
      this.size += piece.byteLength
      if (this.size > this.maxBytes) throw tooLarge(this.maxBytes)
      pieces.push(piece)
      if (this.size > smallBodyBytes) await this.reserve(piece.byteLength)
    }
    this.share?.complete()
    return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
  }

  private reserve(bytes: number): Promise<void> {
    if (this.share) return this.share.arrive(bytes)
    this.share = this.budget.join({
      hostId: this.hostId,
      maxBytes: this.body.declaredBytes ?? this.maxBytes,
      end: () => this.end(tooSlow()),
    })
    this.body.release = this.share.release
    return this.share.arrive(this.size)
  }
}

/**
 * Releases the memory held by a request's body. A small body that nobody has read is discarded; otherwise, the server
 * would keep the received part in memory for a long time. A large one is thrown away with its response.
 */
export function releaseBody({ request, release }: IncomingBody): void {
  const { body } = request
  if (body && !body.locked && !mayStayUnread(request)) body.cancel().catch(() => {})
  release?.()
}

function tooLate(): DomainError {
  return incomplete(`The body did not arrive within ${bodyTimeoutMilliseconds / 1000} s`)
}

/** Nobody gets this response, but the key's log shows it to the partner. */
function disconnected(): DomainError {
  return incomplete('The connection ended before the body had arrived')
}

function tooSlow(): DomainError {
  return incomplete(
    `The body arrived more slowly than ${leastBytesPerSecond} bytes per second while other bodies waited`,
  )
}

function incomplete(message: string): DomainError {
  return new DomainError('body_too_slow', message, [{ path: 'body', code: 'invalid', message }])
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

// Bytes that mean something in JSON.
const quote = 0x22 // "
const comma = 0x2c // ,
const openBracket = 0x5b // [
const backslash = 0x5c // \
const closeBracket = 0x5d // ]
const openBrace = 0x7b // {
const closeBrace = 0x7d // }

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
