/** The error of a response, as its sender saw it. */
export interface Failure {
  type: string
  message: string
  errors: { path: string; code: string; message: string }[]
}

/** A booking as a response showed it. */
export interface DeliveredBooking {
  id: number
  version: Date
  status: string
  checkin_at: string
  checkout_at: string
}

/** What a response showed of bookings. */
export interface Delivered {
  bookings: DeliveredBooking[]
  /** A page of the feed: after which version it began; null for the beginning, undefined where that is not known. */
  page?: { from: Date | null | undefined; isFirst: boolean }
}

/** Facts about a request that become known while it is handled, for those who record it afterwards. */
export interface Outcome {
  /** `performance.now()` of its arrival. */
  readonly startedAt: number
  /** When it arrived, by the clock that dates what is written. */
  at?: Date
  /** `performance.now()` when its response was ready: a busy process notes it later. */
  answeredAt?: number
  /** How long it was held until something changed: its service was not slow meanwhile. */
  heldMilliseconds: number
  /** The key it was made with, once it was recognized, even where it may no longer be used. */
  key?: { id: number; hostId: number }
  /** Client address. */
  address?: string
  /** It counts against the main rate limit of its key. */
  isLimited?: boolean
  /** The key only looks at itself: that is no news of it. */
  isLook?: boolean
  /** It was answered with the stored response of an earlier one. */
  isReplayed?: boolean
  failure?: Failure
  /** The fault of the sandbox that it met. */
  fault?: string
  /** It was played by a certification, which tells nobody (decisions §25). */
  isFaultSecret?: boolean
  /** What it was given of bookings, for a certification to compare. */
  delivered?: Delivered
  /** Gives back what the request holds of bounds that are shared, once it has been answered. */
  giveBack?: () => void
}

const outcomes = new WeakMap<Request, Outcome>()

/** The outcome of a request so far. */
export function outcomeOf(request: Request): Outcome {
  const known = outcomes.get(request)
  if (known) return known
  const outcome: Outcome = { startedAt: performance.now(), heldMilliseconds: 0 }
  outcomes.set(request, outcome)
  return outcome
}
