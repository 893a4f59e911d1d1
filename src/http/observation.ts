import { daysBetween } from '../core/clock.ts'
import type { RequestInput } from './caller.ts'
import { requestIdOf } from './envelope.ts'
import { type Delivered, outcomeOf } from './outcome.ts'

/** What a certification sees of a request, before its response is sent (decisions §25). */
export interface Observed {
  /** The route with its method, for example `POST /sandbox/bookings`. */
  operation: string
  /** When it arrived, by the database's clock. */
  at: Date
  requestId: string | null
  /** What was or would have been sent. */
  status: number
  fault: string | null
  delivered: Delivered | null
  /** How many things a bulk write sent, and how many nights they are. */
  items: number
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

/** A request as it is observed; a client that has gone away was told nothing. */
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

/** The ranges of a bulk write of availability. */
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
