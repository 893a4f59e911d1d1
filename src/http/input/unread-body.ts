import type { Server } from 'bun'
import { collectGarbageOccasionally } from '../byte-budget.ts'
import { declaredLength, type IncomingBody } from './incoming-body.ts'

/*
 * Why a refusal needs help to arrive. If the service closes a connection while the client still sends a body, the
 * kernel answers the client's bytes with a reset, and the reset discards a response that the client has not read yet.
 * Clients that send everything before they read (Python, curl) then see a broken connection, and a proxy makes it a
 * 502. So the connection stays open, and the rest of the body is read and thrown away:
 *
 *   response ready ──> the status and the response's body are sent, but the response is not ended
 *        │              the body is read and thrown away
 *        ├─ body complete ────────> the response is ended; the connection can be used again
 *        ├─ nothing for 0.1 s ────> the response is ended; the runtime throws away what still comes, and closes the
 *        │                          connection within 10 s of the response
 *        └─ 6 s are over ─────────> as above
 *
 * If the length of the body is unknown, the runtime could throw away any number of bytes. So the response of a chunked
 * body announces that the connection will be closed, and ends after 11 MiB, or after 2 s without a byte.
 *
 * The response must be ended for clients that stop sending when they see an error, such as curl: they wait for its end.
 * It must not be ended at once, because the service cannot look after a connection whose response has ended, and could
 * neither count such bodies nor stop an endless one.
 *
 * Behind a proxy, the response itself waits for the end of the body, as it does if it has no body of its own. A proxy
 * such as nginx stops forwarding a body once it has a response. It then ends the client's connection, without telling
 * the client beforehand, and a client that sends its next request on that connection loses it.
 */

/** The runtime itself throws away unread bodies up to this size. */
const smallBytes = 64 * 1024
/** The longest body that is thrown away; above the limits of all routes. */
const maxBytes = 11 * 1024 * 1024
/** Maximum number of bodies that a process throws away at a time. */
const maxBodies = 64

/** How long a response may take to end. The runtime then closes the connection after at most 4 more seconds. */
const responseMilliseconds = 6000
const totalSeconds = 10
/** The runtime's timers may fire up to this much too early. */
const timerStepSeconds = 4

/** A client that knows the status and has sent nothing for this long has probably stopped sending. */
const quietMilliseconds = 100
/** The same for a client that does not know it, or whose connection is closed with the response. */
const longQuietMilliseconds = 2000

/** Returns true if a request's body may be too large to be left to the runtime. */
export function mayStayUnread({ headers }: Request): boolean {
  return headers.has('transfer-encoding') || (declaredLength(headers) ?? 0) > smallBytes
}

/** The bodies of answered requests that a process is throwing away. */
export class UnreadBodies {
  private bodies = 0

  /**
   * Returns a response that arrives although its request's body has not been read; see above. Bodies above 11 MiB, and
   * bodies beyond the 64 that are being thrown away, close the connection.
   *
   * @param server null if the request came from a test and not from a connection
   */
  async respond(body: IncomingBody, response: Response, server: Server<unknown> | null): Promise<Response> {
    const { request } = body
    if (!server || body.isComplete) return response
    const isTooLong = (body.declaredBytes ?? (body.isHidden ? Number.POSITIVE_INFINITY : 0)) > maxBytes
    if (isTooLong || this.bodies >= maxBodies) {
      response.headers.set('connection', 'close')
      return response
    }
    const leaving = new Leaving(body, server)
    if (body.isHidden) {
      leaving.leaveToRuntime()
      return response
    }
    const isSentEarly = response.body !== null && !isProxied(request)
    const mayEndEarly = isSentEarly && body.declaredBytes !== null && !isClosing(request, response)
    const maxQuiet = mayEndEarly ? quietMilliseconds : longQuietMilliseconds
    this.bodies += 1
    const thrownAway = leaving.throwAway(maxQuiet).finally(() => {
      this.bodies -= 1
    })
    if (isSentEarly) {
      if (body.declaredBytes === null) response.headers.set('connection', 'close')
      return endAfter(thrownAway, response)
    }
    await thrownAway.catch(() => {})
    if (body.declaredBytes === null && !body.isComplete) response.headers.set('connection', 'close')
    return response
  }
}

/**
 * Every proxy that `TRUSTED_PROXIES` may name sends one of these headers. A client that sends one itself merely waits
 * longer.
 */
function isProxied({ headers }: Request): boolean {
  return headers.has('x-forwarded-for') || headers.has('forwarded') || headers.has('via')
}

/** Returns true if the connection is closed with the response: the client wants it, or the process is shutting down. */
function isClosing(...messages: { headers: Headers }[]): boolean {
  return messages.some(({ headers }) => headers.get('connection')?.toLowerCase() === 'close')
}

/** Returns a response that is sent at once and ends when `end` resolves; if `end` rejects, the connection is cut. */
async function endAfter(end: Promise<void>, { body, status, headers }: Response): Promise<Response> {
  end.catch(() => {})
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  // A response that fails before its first byte resets the connection, but only if its stream fails from the start.
  const first = await reader.read().catch(() => null)
  if (!first)
    return new Response(new ReadableStream({ start: (controller) => controller.error() }), { headers })
  let next: Promise<{ value?: Uint8Array | undefined }> = Promise.resolve(first)
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value } = await next
          if (value) {
            controller.enqueue(value)
            next = reader.read()
            next.catch(() => {})
            return
          }
          await end
          controller.close()
        } catch {
          // The stream fails without a reason, so that no error is printed.
          controller.error()
        }
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { status, headers })
}

/** A body whose request has been answered. */
class Leaving {
  private readonly startedAt = performance.now()

  constructor(
    private readonly body: IncomingBody,
    private readonly server: Server<unknown>,
  ) {}

  /**
   * Reads the body and throws it away; resolves when the response may end.
   *
   * @param maxQuiet milliseconds after which a client that sends nothing is no longer awaited
   * @throws Error if the client has disconnected
   */
  async throwAway(maxQuiet: number): Promise<void> {
    const quiet = Promise.withResolvers<null>()
    const end = () => quiet.resolve(null)
    const timer = setTimeout(end, maxQuiet)
    const limit = setTimeout(end, responseMilliseconds)
    try {
      let bytes = 0
      while (bytes <= maxBytes) {
        const piece = await Promise.race([this.body.next(), quiet.promise])
        if (!piece) break
        timer.refresh()
        bytes += piece.byteLength
        collectGarbageOccasionally(piece.byteLength)
      }
    } finally {
      clearTimeout(timer)
      clearTimeout(limit)
    }
    if (!this.body.isComplete && this.body.declaredBytes !== null) this.leaveToRuntime()
  }

  /** Lets the runtime throw away the rest, and close the connection unless a new request begins in time. */
  leaveToRuntime(): void {
    const elapsedSeconds = (performance.now() - this.startedAt) / 1000
    const left = Math.floor((totalSeconds - elapsedSeconds) / timerStepSeconds) * timerStepSeconds
    this.server.timeout(this.body.request, Math.max(left, timerStepSeconds))
  }
}
