import { DomainError, rateLimited } from '../core/errors.ts'
import { rateLimitHeaders } from './authorization.ts'
import type { AppContext, LimitState } from './context.ts'
import type { Fault } from './fault-rule.ts'
import { sendLarge } from './large-response.ts'
import { outcomeOf } from './outcome.ts'

/** An answer that a fault made, in place of what the route would have responded. */
export class FaultResponse extends Error {
  override readonly name = 'FaultResponse'

  /** @param make from the headers that every response has */
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
 * Has a request meet a fault: waits, or throws the answer that the fault makes. A fault of the response is noted, and
 * done once there is one, see {@link sendInSandbox}.
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
      // A key that has ended is told of no limit.
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

/** A 500 on purpose: nothing for the log of failures. */
export class PlayedFailure extends Error {
  override readonly name = 'PlayedFailure'
}

/** Waits, unless too many of the key wait already, or the process shuts down. */
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

/** What a proxy responds whose service is away. */
function badGateway(headers: Record<string, string>): Response {
  const page =
    '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n'
  return new Response(page, { status: 502, headers: { ...headers, 'content-type': 'text/html' } })
}

type Answered = Parameters<typeof sendLarge>[0] & { request: Request }

/** Sends a response of the sandbox, unless a fault of the response takes it away, or half of it. */
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

/** What Elysia would send: a body with the status that was set, a status with its body, or the response itself. */
function toResponse({ response, set }: Answered): Response {
  if (response instanceof Response) return response
  const { code = Number(set.status ?? 200), response: body = response } = response as {
    code?: number
    response?: unknown
  }
  return Response.json(body, { status: code, headers: set.headers as Record<string, string> })
}

/** Ends in a reset of the connection, without a byte; without a reason, so that nothing is printed. */
function lost(status?: number): Response {
  return new Response(
    new ReadableStream({ start: (controller) => controller.error() }),
    status ? { status } : {},
  )
}

/** Long enough for what came before to be on its way. */
const beforeResetMilliseconds = 20

/** Sends a part of a body, and ends in a reset of the connection. */
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
