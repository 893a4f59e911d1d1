import type { Logger } from 'pino'
import { type DomainError, rateLimited } from '../../core/errors.ts'
import { ByteBudget, collectGarbageOccasionally } from '../byte-budget.ts'
import type { Admitted, RequestFacts, ResponseSettings, Sent } from '../request.ts'
import { matches, strongTag } from './cached-content.ts'
import { jsonContentType, type ResponseContext, requestIdOf } from './envelope.ts'

/** The operating system accepts this many bytes in one write, so smaller responses never wait in memory. */
const smallBytes = 64 * 1024
const pieceBytes = 64 * 1024

/** A request that is answered. */
interface Answered {
  request: Request
  facts: RequestFacts
  set: ResponseSettings
}

/**
 * Sends an envelope as JSON text, and a finished `Response` as it is. A large envelope is sent in pieces as the client
 * reads it. There is a limit on how many bytes a key's slow clients may leave unread, and for how long.
 *
 * @param isConditional true for a route that sends an entity tag and responds 304 if the client already has that tag
 * @throws DomainError `rate_limit` while too many bytes of the key's responses are unread
 */
export function sendEnvelope(
  unread: UnreadResponses,
  { request, facts, set }: Answered,
  answer: object | Response,
  isConditional = false,
): Sent {
  if (answer instanceof Response) return answer
  const headers = set.headers as Record<string, string>
  const isTagged = isConditional && headers['cache-control'] !== unstored
  const text = isTagged ? tagEnvelope(answer as Envelope, headers) : JSON.stringify(answer)
  if (headers.etag !== undefined && matches(request.headers.get('if-none-match'), headers.etag))
    return new Response(null, { status: 304, headers })
  headers['content-type'] = jsonContentType
  if (text.length > smallBytes) {
    const bytes = Buffer.from(text)
    collectGarbageOccasionally(bytes.length)
    const keyId = facts.served?.key?.id ?? 0
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    // The write has been carried out, so its response is sent no matter how much response data is still unread.
    const release = isRead ? unread.reserve(keyId, bytes.length) : unread.take(keyId, bytes.length)
    return sendInPieces([bytes], release ?? (() => {}), set)
  }
  // Elysia sends a string as it is, but would rebuild a `Response`.
  return text
}

interface Envelope {
  data: unknown
  meta: { pagination?: unknown }
}

/** `Cache-Control` with which a handler of a conditional route asks for a response without a tag, which is never a 304. */
export const unstored = 'private, no-store'

/** `Cache-Control` for a response that only the client may cache and that it must revalidate each time. */
const revalidated = 'private, no-cache'

/**
 * Returns an envelope's JSON text. Sets `Cache-Control` and a weak entity tag, which is computed from the envelope's
 * data and pagination (RFC 9110, 13.1.2).
 */
function tagEnvelope({ data, meta }: Envelope, headers: Record<string, string>): string {
  const text = JSON.stringify(data)
  headers.etag = `W/${strongTag(text + JSON.stringify(meta.pagination ?? null))}`
  headers['cache-control'] = revalidated
  return `{"data":${text},"meta":${JSON.stringify(meta)}}`
}

function sendInPieces(
  whole: Uint8Array<ArrayBuffer>[],
  release: () => void,
  { status, headers }: ResponseSettings,
): Response {
  const pieces = piecesOf(whole)
  const next = async () => pieces.next().value ?? null
  return new Response(pacedStream(next, release), {
    status: Number(status ?? 200),
    headers: headers as Record<string, string>,
  })
}

function* piecesOf(whole: Uint8Array<ArrayBuffer>[]) {
  for (const bytes of whole)
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

/**
 * A response up to this size is produced in full before any of it is sent, so that a failure while producing it still
 * yields a proper error.
 */
const maxBufferedBytes = 1024 * 1024

/**
 * Returns a 200 response with JSON text that is produced in chunks. A large response is produced while it is sent, no
 * faster than the client reads it, so that the whole response is never in memory. If producing a chunk fails after
 * sending has started, the connection is dropped mid-document.
 *
 * @throws any error that `chunks` throws before sending has started; DomainError `rate_limit` while too many bytes of
 * the key's responses are unread
 */
export async function streamJson(
  { unread, log }: { unread: UnreadResponses; log: Logger },
  context: ResponseContext & { caller: { keyId: number }; admitted: Admitted },
  chunks: AsyncGenerator<string>,
): Promise<Response> {
  const { keyId } = context.caller
  const held: Uint8Array<ArrayBuffer>[] = []
  let heldBytes = 0
  let isComplete = false
  while (heldBytes <= maxBufferedBytes) {
    const { done, value } = await chunks.next()
    isComplete = done === true
    if (done) break
    const bytes = encoder.encode(value)
    held.push(bytes)
    heldBytes += bytes.length
  }
  try {
    await context.admitted()
  } catch (error) {
    await chunks.return(undefined)
    throw error
  }
  const headers = {
    ...(context.set.headers as Record<string, string>),
    'content-type': jsonContentType,
  }
  if (isComplete && heldBytes <= smallBytes) return new Response(new Blob(held), { headers })
  if (isComplete) return sendInPieces(held, unread.reserve(keyId, heldBytes), { headers })
  const release = unread.take(keyId, heldBytes)
  if (!release) {
    await chunks.return(undefined)
    throw tooManyUnread()
  }
  const next = async () => {
    const early = held.shift()
    if (early) return early
    const { done, value } = await chunks.next()
    if (done) return null
    const bytes = encoder.encode(value)
    collectGarbageOccasionally(bytes.length)
    return bytes
  }
  const body = pacedStream(next, (error) => {
    release()
    if (error) log.error({ err: error, request_id: requestIdOf(context) }, 'A response was cut off')
    chunks.return(undefined).catch(() => {})
  })
  return new Response(body, { headers })
}

const encoder = new TextEncoder()

/** Limit on the unread bytes of a key's large responses. A response that does not fit is refused immediately. */
const unreadBytesOfKey = 8 * 1024 * 1024
const retryMilliseconds = 5000

/**
 * Counts the bytes of large responses that clients have not read yet. Without it, a few keys whose clients read nothing
 * would fill the process's memory.
 */
export class UnreadResponses {
  private readonly budget = new ByteBudget(unreadBytesOfKey)

  /**
   * Reserves memory for a response that the client may leave unread.
   *
   * @returns a function that releases the memory
   * @throws DomainError `rate_limit` if too many bytes of the key's responses are still unread
   */
  reserve(keyId: number, bytes: number): () => void {
    const release = this.take(keyId, bytes)
    if (!release) throw tooManyUnread()
    return release
  }

  /** Like {@link reserve}, but returns null if too many bytes are unread. */
  take(keyId: number, bytes: number): (() => void) | null {
    return this.budget.take(keyId, bytes)
  }
}

function tooManyUnread(): DomainError {
  return rateLimited(retryMilliseconds, 'Too many responses to this key are still being read')
}

/** Time limit for reading a response. Without it, a response read byte by byte would stay in memory for hours. */
const maxMilliseconds = 120_000

/** Produces the next bytes of a stream, or null at its end. */
type Next = () => Promise<Uint8Array<ArrayBuffer> | null>

/**
 * Returns a stream that is produced no faster than it is read. If reading takes too long, the connection is dropped.
 *
 * @param end called once when the stream ends, with the error if it failed
 * @param longest maximum duration in milliseconds
 */
export function pacedStream(
  next: Next,
  end: (error?: unknown) => void,
  longest = maxMilliseconds,
): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasEnded = false
  const finish = (error?: unknown) => {
    // If the time limit expires while `next` is running, enqueueing the late bytes fails, which calls `finish` again.
    if (hasEnded) return
    hasEnded = true
    clearTimeout(timer)
    end(error)
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const tooSlow = new Error(`The response was not read within ${longest / 1000} s`)
        timer = setTimeout(() => {
          controller.error(tooSlow)
          finish(tooSlow)
        }, longest)
      },
      async pull(controller) {
        try {
          const bytes = await next()
          if (bytes) return controller.enqueue(bytes)
          controller.close()
          finish()
        } catch (error) {
          controller.error(error)
          finish(error)
        }
      },
      cancel() {
        finish()
      },
    },
    { highWaterMark: 0 },
  )
}
