import { DomainError, rateLimited } from '../core/errors.ts'
import { rateLimitHeaders } from './authorization.ts'
import type { AppContext, LimitState } from './context.ts'
import type { Fault } from './fault-rule.ts'
import { sendLarge } from './large-response.ts'
import { outcomeOf } from './outcome.ts'

/** A response made by a fault, which replaces the route's response. */
export class FaultResponse extends Error {
  override readonly name = 'FaultResponse'

  /** @param make builds the response from the headers that every response has */
  constructor(readonly make: (headers: Record<string, string>) => Response) {
    super('A fault of the sandbox')
  }
}

interface Meeting {
  request: Request
  set: { headers: Record<string, string | number | undefined> }
  caller: { keyId: number }
}

/**
 * Injects a fault into a request: waits, or throws the fault's error or response. A response fault is only recorded
 * here, and {@link sendInSandbox} applies it.
 */
export async function meetFault(
  app: Pick<AppContext, 'heldRequests'>,
  { fault, retry_after_seconds, delay_milliseconds }: Fault,
  { request, set, caller }: Meeting,
  limits: LimitState,
): Promise<void> {
  const outcome = outcomeOf(request)
  outcome.fault = fault
  if (!outcome.isFaultSecret) set.headers['sandbox-fault'] = fault
  switch (fault) {
    case 'rate_limited':
      Object.assign(
        set.headers,
        rateLimitHeaders({ ...limits, remaining: 0, waitMilliseconds: retry_after_seconds * 1000 }),
      )
      throw rateLimited(retry_after_seconds * 1000)
    case 'unauthorized':
      // Requests with an expired key get no rate-limit headers.
      for (const name of Object.keys(set.headers)) if (name.startsWith('ratelimit')) delete set.headers[name]
      throw new DomainError('auth', 'API key has expired')
    case 'internal_error':
      throw new PlayedFailure()
    case 'bad_gateway':
      throw new FaultResponse((headers) => badGateway(headers))
    case 'lost_request':
      throw new FaultResponse(() => lost())
    case 'slow':
      await delay(app, request, caller.keyId, delay_milliseconds)
  }
}

/** An intentional 500, which is not logged as a failure. */
export class PlayedFailure extends Error {
  override readonly name = 'PlayedFailure'
}

/** Waits, unless too many of the key's requests are already waiting or the process is shutting down. */
async function delay(
  { heldRequests }: Pick<AppContext, 'heldRequests'>,
  request: Request,
  keyId: number,
  milliseconds: number,
): Promise<void> {
  const slot = await heldRequests.take(keyId, 'slow')
  if (!slot) return
  const heldSince = performance.now()
  const over = AbortSignal.any([request.signal, heldRequests.ending, AbortSignal.timeout(milliseconds)])
  await new Promise((resolve) => {
    if (over.aborted) resolve(null)
    over.addEventListener('abort', resolve)
  })
  outcomeOf(request).heldMilliseconds += performance.now() - heldSince
  slot.free()
}

/** Returns the response of a proxy whose service is down. */
function badGateway(headers: Record<string, string>): Response {
  const page =
    '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n'
  return new Response(page, { status: 502, headers: { ...headers, 'content-type': 'text/html' } })
}

type Answered = Parameters<typeof sendLarge>[0] & { request: Request }

/** Sends a sandbox response, unless a fault drops the response or cuts it in half. */
export async function sendInSandbox(answered: Answered): Promise<Response | undefined> {
  const { fault } = outcomeOf(answered.request)
  if (fault !== 'lost_response' && fault !== 'cut_response') return sendLarge(answered)
  const response = toResponse(answered)
  const { status, headers } = response
  if (fault === 'lost_response') return lost(status)
  const body = new Uint8Array(await response.arrayBuffer())
  const half = body.subarray(0, body.length >> 1)
  return half.length > 0 ? cut(half, { status, headers }) : lost(status)
}

/** Builds the response that Elysia would send for a body, a status with its body, or a `Response`. */
function toResponse({ response, set }: Answered): Response {
  if (response instanceof Response) return response
  const { code = Number(set.status ?? 200), response: body = response } = response as {
    code?: number
    response?: unknown
  }
  return Response.json(body, { status: code, headers: set.headers as Record<string, string> })
}

/** Resets the connection before a byte is sent. The stream errors without a reason, so that nothing is printed. */
function lost(status?: number): Response {
  return new Response(
    new ReadableStream({ start: (controller) => controller.error() }),
    status ? { status } : {},
  )
}

/** Delay before a reset, long enough for the preceding bytes to be on their way. */
const beforeResetMilliseconds = 20

/** Sends part of a body and then resets the connection. */
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
