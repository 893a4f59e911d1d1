import { daysBetween } from '../core/clock.ts'
import type { RequestInput } from './caller.ts'
import { requestIdOf } from './envelope.ts'
import { type Delivered, outcomeOf } from './outcome.ts'

/** A request as a certification sees it before the response is sent (decisions §25). */
export interface Observed {
  /** Method and route, for example `POST /sandbox/bookings`. */
  operation: string
  /** Time at which the guard found the sandbox or its certification, by the database's clock. */
  at: Date
  requestId: string | null
  /** The status that was sent, or would have been sent without the fault. */
  status: number
  fault: string | null
  delivered: Delivered | null
  /** Number of items in a bulk write. */
  items: number
  /** Number of nights that the items cover. */
  nights: number
  body: unknown
  idempotencyKey: string | undefined
}

interface Answered {
  request: Request
  route: string
  response: unknown
  seenAt?: Date
  sent?: RequestInput
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
}

/** Returns a request's observation. If the client has disconnected, the response counts as `broken`. */
export function observe(answered: Answered): Observed {
  const { request, route, sent, set, seenAt = new Date() } = answered
  const { fault, delivered = null } = outcomeOf(request)
  return {
    operation: `${request.method} ${route}`,
    at: seenAt,
    requestId: requestIdOf({ set }) ?? null,
    status: statusOf(answered),
    fault: fault ?? (request.signal.aborted ? 'broken' : null),
    delivered,
    ...sizeOf(sent?.body),
    body: sent?.body,
    idempotencyKey: sent?.idempotencyKey,
  }
}

function statusOf({ response, set }: Answered): number {
  if (response instanceof Response) return response.status
  const { code } = (response ?? {}) as { code?: number }
  return code ?? Number(set.status ?? 200)
}

/** A range in a bulk write of availability. */
type Range = { start_date?: unknown; end_date?: unknown } | null

function sizeOf(body: RequestInput['body']): { items: number; nights: number } {
  const ranges: Range[] = Array.isArray(body?.data) ? body.data : []
  const nights = ranges.map((range) => nightsOf(range ?? {}))
  return { items: ranges.length, nights: nights.reduce((sum, one) => sum + one, 0) }
}

function nightsOf({ start_date, end_date }: NonNullable<Range>): number {
  if (typeof start_date !== 'string' || typeof end_date !== 'string') return 0
  const nights = daysBetween(start_date, end_date) + 1
  return Number.isFinite(nights) && nights > 0 ? nights : 0
}
