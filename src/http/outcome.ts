/** A response's error as the client saw it. */
export interface Failure {
  type: string
  message: string
  errors: { path: string; code: string; message: string }[]
}

/** A booking as a response contained it. */
export interface DeliveredBooking {
  id: number
  version: Date
  status: string
  checkin_at: string
  checkout_at: string
}

/** The bookings that a response contained. */
export interface Delivered {
  bookings: DeliveredBooking[]
  /** For a feed page, the version after which it begins: null for the beginning of the feed, undefined if unknown. */
  page?: { from: Date | null | undefined; isFirst: boolean }
}

/** Facts about a request that become known while it is handled and are recorded afterwards. */
export interface Outcome {
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number
  /** Time of arrival, by the clock that dates stored data. */
  at?: Date
  /** `performance.now()` when the response was ready. If the process is busy, the request is logged later than this. */
  answeredAt?: number
  /** Milliseconds for which the request was held on purpose. This time does not count as slow service. */
  heldMilliseconds: number
  /** The request's key once recognized, even if the key is no longer usable. */
  key?: { id: number; hostId: number }
  /** Client address. */
  address?: string
  /** True if the request counts against its key's main rate limit. */
  isLimited?: boolean
  /** True if the request only looks at its own key. Such a request is listed only if it fails. */
  isLook?: boolean
  /** True if the response is the stored response to an earlier request. */
  isReplayed?: boolean
  failure?: Failure
  /** The sandbox fault that the request met. */
  fault?: string
  /** True if a certification plays the sandbox's faults. Headers and log then hide the fault (decisions §25). */
  isFaultSecret?: boolean
  /** The bookings that the response contained, for a certification to compare. */
  delivered?: Delivered
  /** Releases shared capacity held by the request, once it has been answered. */
  giveBack?: () => void
}

const outcomes = new WeakMap<Request, Outcome>()

/** Returns the request's outcome so far. */
export function outcomeOf(request: Request): Outcome {
  const known = outcomes.get(request)
  if (known) return known
  const outcome: Outcome = { startedAt: performance.now(), heldMilliseconds: 0 }
  outcomes.set(request, outcome)
  return outcome
}
