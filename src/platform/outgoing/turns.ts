import type { Slot, Slots } from '../slots.ts'

/** How fast requests may go to one origin (scheme, host and port of a URL). */
export interface Pace {
  /** Requests under the same name count together. */
  name: string
  /** Maximum number of requests at a time, and in any second. */
  limit: number
  /** Time limit of a request, after which it has certainly ended. */
  requestMilliseconds: number
  /**
   * Maximum time that a request holds its turn after it has been sent, so that a server that keeps its connections open
   * without a response does not hold up others; null if every request in progress counts, however long it takes.
   */
  answerMilliseconds: number | null
}

/** A little more than a second, because the receiver's clock may run slower than ours. */
const windowMilliseconds = 1020
/**
 * Time beyond that of a request after which a turn counts as lost. A dead process's turns become free then, so a turn
 * may wait for its request for less than that.
 */
const sparedMilliseconds = 5000
/** Maximum age of a turn when its request begins, so that the turn is not presumed lost while the request lasts. */
const maxAgeMilliseconds = sparedMilliseconds - windowMilliseconds
/** Pause between two checks for a free turn. */
const pauseMilliseconds = 100

/**
 * Permission for one request to an origin. As many as the pace allows are given at a time, and each is held until a
 * second after its request has ended. So whatever happens in between, a slow transaction, a slow name server or a slow
 * connection, no second contains more requests than that. Counting requests when they are planned would let two batches
 * that were planned a second apart be sent together.
 *
 *     taken ── begin ──▶ connecting ── sent ──▶ answering ── end, or too long ──▶ a second passes ──▶ free
 *       │                     └──────────────── end ────────────────▲                                  ▲
 *       └── giveBack ──────────────────────────────────────────────────────────────────────────────────┘
 *
 * A turn that has grown too old before its request is exchanged (`freshTurn`), because it would count as lost meanwhile.
 */
export interface Turn {
  /** Returns false if the turn is too old for a request. */
  isFresh(): boolean
  /** Must be called immediately before the request. */
  begin(): void
  /**
   * Called once the request has been sent, so that a silent receiver keeps its turn only for the time that the pace
   * allows. Not called for a request on a kept connection, which may be sent again on a new one: its turn is kept until
   * the request ends.
   */
  sent(): void
  /** Must be called once the request has ended. */
  end(): void
  /** Frees a turn that was not used. Does nothing once the turn has begun. */
  giveBack(): void
}

/** A turn where nothing limits the pace. */
export const unlimited: Turn = { isFresh: () => true, begin() {}, sent() {}, end() {}, giveBack() {} }

class OriginTurn implements Turn {
  private state: 'taken' | 'connecting' | 'answering' | 'over' = 'taken'
  private timer: ReturnType<typeof setTimeout> | undefined

  /** @param takenAt `performance.now()` before the slot was taken */
  constructor(
    private readonly slot: Slot,
    private readonly takenAt: number,
    private readonly answerMilliseconds: number | null,
  ) {}

  isFresh(): boolean {
    return this.state === 'taken' && performance.now() - this.takenAt <= maxAgeMilliseconds
  }

  begin(): void {
    this.state = 'connecting'
  }

  sent(): void {
    if (this.state !== 'connecting') return
    this.state = 'answering'
    if (this.answerMilliseconds === null) return
    this.timer = setTimeout(() => this.end(), this.answerMilliseconds)
  }

  end(): void {
    if (this.state !== 'connecting' && this.state !== 'answering') return
    this.state = 'over'
    clearTimeout(this.timer)
    setTimeout(() => this.slot.free(), windowMilliseconds)
  }

  giveBack(): void {
    if (this.state !== 'taken') return
    this.state = 'over'
    this.slot.free()
  }
}

/**
 * Keeps a pace at each origin. Over which processes it holds depends on the slots: Redis's and those in the database
 * are common to all processes. Without it, the service could be used to flood a third party's server.
 */
export class OriginTurns {
  constructor(
    private readonly slots: Pick<Slots, 'takePatiently'>,
    private readonly pace: Pace,
  ) {}

  /** Takes up to `wanted` turns at a URL's origin. The caller must end each of them or give it back. */
  async take(url: string, wanted: number): Promise<Turn[]> {
    const { name, limit, requestMilliseconds, answerMilliseconds } = this.pace
    const slotName = `${name}:${new URL(url).origin}`
    const lostMilliseconds = requestMilliseconds + sparedMilliseconds
    const takenAt = performance.now()
    const slots = await Promise.all(
      Array.from({ length: wanted }, () => this.slots.takePatiently(slotName, limit, lostMilliseconds)),
    )
    return slots
      .filter((slot) => slot !== null)
      .map((slot) => new OriginTurn(slot, takenAt, answerMilliseconds))
  }

  /** Waits for a turn at a URL's origin. Returns null if this would take longer than `milliseconds`. */
  async wait(url: string, milliseconds: number): Promise<Turn | null> {
    const deadline = performance.now() + milliseconds
    for (;;) {
      const [turn] = await this.take(url, 1)
      if (turn) return turn
      if (performance.now() + pauseMilliseconds > deadline) return null
      await Bun.sleep(pauseMilliseconds)
    }
  }
}

/** Returns a turn whose request may begin at once: the given turn or, if it is too old, the one that `takeAnother` takes. */
export async function freshTurn(turn: Turn, takeAnother: () => Promise<Turn>): Promise<Turn> {
  if (turn.isFresh()) return turn
  turn.giveBack()
  return takeAnother()
}
