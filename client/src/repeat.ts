/** The parts of a request that determine whether it may be sent again if its answer was lost. */
export interface Repeatable {
  method: string
  /** Path below the root, such as `/bookings/5002/confirm`. */
  path: string
  body?: unknown
  idempotencyKey?: string | undefined
}

const keyed = [
  /^\/(users|bookings|listings)$/,
  /^\/bookings\/[^/]+\/(confirm|cancel)$/,
  /^\/integrations\/[^/]+\/(availability|rates)$/,
]

/** True for operations that take an `Idempotency-Key`. */
export function takesKey({ method, path }: Repeatable): boolean {
  return method === 'POST' && keyed.some((pattern) => pattern.test(path))
}

/** Time after the first try during which the service treats identical text as the same message. */
const sameMessageMilliseconds = 50_000

/**
 * Returns true if a request may be sent again even though the previous try may have been carried out.
 *
 * @param sinceFirstTry milliseconds since the first try
 */
export function mayRepeat(
  { method, path, body, idempotencyKey }: Repeatable,
  sinceFirstTry: number,
): boolean {
  if (idempotencyKey !== undefined || method === 'GET' || method === 'DELETE') return true
  if (method === 'PUT') return !(body as { seek?: unknown } | undefined)?.seek
  // A body that the caller has already serialized may add elements.
  if (method === 'PATCH') return typeof body !== 'string' && !addsElements(body)
  if (/^\/bookings\/[^/]+\/messages$/.test(path)) return sinceFirstTry < sameMessageMilliseconds
  return /^\/integrations\/[^/]+\/(provider-key|rates)$/.test(path)
}

interface Elements {
  id?: unknown
  room_types?: Elements[]
  rooms?: Elements[]
}

/** True if the body has a room type or room without an id, which a repeat would add again. */
function addsElements(body: unknown): boolean {
  const isNew = ({ id, ...more }: Elements) => id === undefined || id === null || addsElements(more)
  const { room_types, rooms } = (body ?? {}) as Elements
  return [room_types, rooms].some((list) => Array.isArray(list) && list.some(isNew))
}
