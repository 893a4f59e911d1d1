/** What decides whether a request may be sent again when its answer was lost. */
export interface Repeatable {
  method: string
  /** Below the root, such as `/bookings/5002/confirm`. */
  path: string
  body?: unknown
  idempotencyKey?: string | undefined
}

const keyed = [
  /^\/(users|bookings|listings)$/,
  /^\/bookings\/[^/]+\/(confirm|cancel)$/,
  /^\/integrations\/[^/]+\/(availability|rates)$/,
]

/** True for the operations that take an `Idempotency-Key`. */
export function takesKey({ method, path }: Repeatable): boolean {
  return method === 'POST' && keyed.some((pattern) => pattern.test(path))
}

/** So long the service takes the same text for the same message. */
const sameMessageMilliseconds = 50_000

/**
 * Whether a request may be sent again although the one before may have been carried out.
 *
 * @param sinceFirstTry in milliseconds
 */
export function mayRepeat(
  { method, path, body, idempotencyKey }: Repeatable,
  sinceFirstTry: number,
): boolean {
  if (idempotencyKey !== undefined || method === 'GET' || method === 'DELETE') return true
  if (method === 'PUT') return !(body as { seek?: unknown } | undefined)?.seek
  // Text that was serialized elsewhere may add anything.
  if (method === 'PATCH') return typeof body !== 'string' && !addsElements(body)
  if (/^\/bookings\/[^/]+\/messages$/.test(path)) return sinceFirstTry < sameMessageMilliseconds
  return /^\/integrations\/[^/]+\/(provider-key|rates)$/.test(path)
}

interface Elements {
  id?: unknown
  room_types?: Elements[]
  rooms?: Elements[]
}

/** A room type or room without an id would be added again. */
function addsElements(body: unknown): boolean {
  const isNew = ({ id, ...more }: Elements) => id === undefined || id === null || addsElements(more)
  const { room_types, rooms } = (body ?? {}) as Elements
  return [room_types, rooms].some((list) => Array.isArray(list) && list.some(isNew))
}
