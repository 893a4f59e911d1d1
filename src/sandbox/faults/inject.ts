import { DomainError, rateLimited } from '../../core/errors.ts'
import { ReadyResponse, unexpected } from '../../http/answer/error-response.ts'
import { rateLimitHeaders } from '../../http/authorization.ts'
import type { AppContext } from '../../http/context.ts'
import type { Entry } from '../../http/request.ts'
import type { Fault } from './rule.ts'

/**
 * Injects a request fault before the handler runs, by waiting or by throwing the fault's error or response. Does
 * nothing for a response fault, which {@link truncateResponse} applies later.
 */
export async function injectFault(
  app: Pick<AppContext, 'heldRequests'>,
  { fault, retry_after_seconds, delay_milliseconds }: Fault,
  entry: Entry,
): Promise<void> {
  const { set, limits } = entry
  switch (fault) {
    case 'rate_limited': {
      const waitMilliseconds = retry_after_seconds * 1000
      Object.assign(set.headers, rateLimitHeaders({ ...limits, remaining: 0, waitMilliseconds }))
      throw rateLimited(waitMilliseconds)
    }
    case 'unauthorized':
      // Requests with an expired key get no rate-limit headers.
      for (const name of Object.keys(set.headers)) if (name.startsWith('ratelimit')) delete set.headers[name]
      throw new DomainError('auth', 'API key has expired')
    case 'internal_error':
      throw unexpected
    case 'bad_gateway':
      throw new ReadyResponse((headers) => badGateway(headers))
    case 'lost_request':
      throw new ReadyResponse(() => lost())
    case 'slow':
      await delay(app, entry, delay_milliseconds)
  }
}

/**
 * Waits until the time has passed, the client disconnects or the process shuts down. Does not wait if the limit on held
 * requests has been reached.
 */
async function delay(
  { heldRequests }: Pick<AppContext, 'heldRequests'>,
  { request, facts, limits }: Entry,
  milliseconds: number,
): Promise<void> {
  const slot = await heldRequests.take(facts, limits.key.id, 'slow')
  if (!slot) return
  const over = AbortSignal.any([request.signal, heldRequests.ending, AbortSignal.timeout(milliseconds)])
  await new Promise((resolve) => {
    if (over.aborted) resolve(null)
    over.addEventListener('abort', resolve)
  })
  slot.free()
}

/** Returns the response that a proxy sends if the service behind it is down. */
function badGateway(headers: Record<string, string>): Response {
  const page =
    '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n'
  return new Response(page, { status: 502, headers: { ...headers, 'content-type': 'text/html' } })
}

/** Drops a response or cuts it in half. */
export async function truncateResponse(
  fault: 'lost_response' | 'cut_response',
  response: Response,
): Promise<Response> {
  const { status, headers } = response
  if (fault === 'lost_response') {
    // Otherwise, a large response would stay in memory until its time limit expires.
    await response.body?.cancel()
    return lost(headers)
  }
  const body = new Uint8Array(await response.arrayBuffer())
  const half = body.subarray(0, body.length >> 1)
  return half.length > 0 ? cut(half, { status, headers }) : lost(headers)
}

/**
 * Returns a response that resets the connection before any byte is sent. Its status must allow a body, because the
 * failing body causes the reset. The stream fails without a reason, so that no error is printed.
 *
 * @param headers headers of the response that is dropped; the request log uses them to recognize a replay
 */
function lost(headers = new Headers()): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error() }), { headers })
}

/** Delay before a reset. A busy client may discard bytes that it receives together with the reset. */
const beforeResetMilliseconds = 200

/** Returns a response that sends part of a body and then resets the connection. */
function cut(part: Uint8Array<ArrayBuffer>, init: ResponseInit): Response {
  let isSent = false
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (isSent) return controller.error()
        isSent = true
        controller.enqueue(part)
        await Bun.sleep(beforeResetMilliseconds)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, init)
}
