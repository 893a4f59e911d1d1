import { DomainError, invalidField } from '../core/errors.ts'
import type { Access } from './access.ts'
import { smallBodyBytes, takeBodyRoom } from './body-room.ts'
import { collectGarbageOccasionally } from './memory.ts'
import { outcomeOf } from './outcome.ts'

/** How deeply a body may nest; real listings need five levels. */
const maxDepth = 64
/** Values that a body may hold, unknown fields included: parsed, each takes up to a hundred times the two bytes it is sent in. */
const maxValues = 100_000

/**
 * Reads a request body as a JSON object, whatever its `Content-Type` (decisions §1).
 *
 * @param keyId whose body it is
 * @param maxBytes more is refused, before it is read if the sender declared the length
 * @param kind `optional`: no body is an empty object; `bookings`: lines are the bookings of one
 * @throws DomainError `body_too_large` (413), `body_too_slow` (408), `validation` (422) with path `body`, or `conflict`
 * with a retry time
 */
export async function readJsonObject(
  request: Request,
  keyId: number,
  maxBytes: number,
  kind: Access['body'] = 'json',
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, keyId, maxBytes)
  if (kind === 'optional' && bytes.byteLength === 0) return {}
  collectGarbageOccasionally(bytes.byteLength)
  const value = parse(bytes, kind === 'bookings' ? parseBookings : JSON.parse)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField('body', 'The body must be a JSON object')
  }
  return value as Record<string, unknown>
}

/** How long a body may take to arrive: one that trickles in would otherwise hold its request open forever. */
const bodyTimeoutMilliseconds = 30_000

/**
 * Reads chunk by chunk, whatever length was declared: the server stops reading from the socket while nobody asks for
 * more, so no more than the limit is ever in memory.
 */
async function readBytes(request: Request, keyId: number, maxBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (Number(declared) > maxBytes) throw tooLarge(maxBytes)
  if (declared === null && !request.headers.has('transfer-encoding') && !request.body) return new Uint8Array()
  // A sender that has gone sends nothing more: what came of it is given up at once.
  const over = new AbortController()
  const abort = () => over.abort()
  const timer = setTimeout(abort, bodyTimeoutMilliseconds)
  if (request.signal.aborted) abort()
  request.signal.addEventListener('abort', abort)
  const reserve = async (bytes: number) => {
    outcomeOf(request).giveBack = await takeBodyRoom(keyId, bytes, over.signal)
  }
  let chunks: AsyncIterator<Uint8Array> | undefined
  try {
    if (declared !== null) await reserve(Number(declared))
    // Not touched before: the server would begin to read it.
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

/** Discards a body that nobody has read: otherwise the server keeps what has arrived of it for a long time. */
export function dropBody({ body }: Request): void {
  if (body && !body.locked) body.cancel().catch(() => {})
}

/** @param reserve called once with the most that may come, when a body whose length nobody declared is more than small */
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

/** An unread body up to this size is tolerated, so that the connection can be used again. */
const maxUnreadBytes = 64 * 1024

/** True for a body that must not be read to its end unless a route needs it: the connection is closed instead. */
export function isBodyToRefuse({ headers, method }: Request): boolean {
  if (method === 'GET' || method === 'HEAD')
    return headers.has('transfer-encoding') || headers.has('content-length')
  return headers.has('transfer-encoding') || Number(headers.get('content-length')) > maxUnreadBytes
}

function tooLarge(maxBytes: number): DomainError {
  const message = `The body must be at most ${maxBytes} bytes`
  return new DomainError('body_too_large', message, [{ path: 'body', code: 'max', message }])
}

/** More lines than this are not looked at: the schema refuses a list that is longer than its bound, whatever follows. */
const maxLines = 10_001

/** Reads an object with `bookings`, or one booking a line. */
function parseBookings(text: string): unknown {
  // Lines are found one at a time: ten million of them would take a second to split.
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

/** Undefined for a line that is no JSON, such as the first one of a document over several lines. */
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
  if (values > maxValues) throw invalidField('body', `The body must hold at most ${maxValues} values`, 'max')
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
 * The deepest nesting of a JSON text, and how many values it holds at most, without making any: what stands inside strings
 * does not count.
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
