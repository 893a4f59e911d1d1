import { DomainError } from '../../core/errors.ts'

/** Limits of a {@link BodyBudget}. */
interface Limits {
  /** Maximum number of bytes, per host and in the whole process. */
  ofHost: number
  ofProcess: number
  /** Maximum number of waiting bodies, per host and in the whole process. */
  waitingOfHost: number
  waiting: number
  /** How long a body waits before slow bodies are ended. */
  patienceMilliseconds: number
  /** A body that arrives more slowly than this is ended while another body waits. */
  leastBytesPerSecond: number
}

/** Bytes are granted in multiples of this, so that a body in many small pieces asks rarely. */
const grantBytes = 64 * 1024

/** A body as its reader announces it to the budget. */
interface Announced {
  /** Id of the host that owns the request's key. */
  hostId: number
  /** The largest size that the body can have: its announced length or, if it has none, the route's limit. */
  maxBytes: number
  /** Called if the body arrives too slowly while another body waits. */
  end(): void
}

/** One body's part of the budget. */
interface Share extends Announced {
  heldBytes: number
  arrivedBytes: number
  isComplete: boolean
  /** `performance.now()` when the share last stopped waiting. */
  waitedUntil: number
  waiting: Waiting | undefined
}

interface Waiting {
  /** The number of bytes that the share wants to hold. */
  bytes: number
  settle(isGranted: boolean): void
}

/**
 * Divides memory among the bodies above 64 KiB that are being received and processed. Without it, a few hosts could
 * fill the process's memory with bodies.
 *
 * Bytes count when they arrive, not when they are announced. Otherwise, a few hosts could announce large bodies, send
 * nothing, and hold up everyone else. A body whose next bytes do not fit waits: no more of it is read from its
 * connection. Two rules keep bodies from waiting in vain.
 *
 * 1. Bodies never wait for each other in a circle, although each of them may hold a part of what the others need. This is
 *    Dijkstra's banker's algorithm, with each body's largest size as its claim. Bytes are granted only if the bodies
 *    could then still be completed one after the other, each with what is free and what the ones before it have
 *    returned. If that was possible before, it stays possible when a body is completed, ended or released, because
 *    these only return bytes or lower a claim, and when a body joins, because it holds nothing and fits once all others
 *    are done. So at any time there is a body that needs to wait for nothing but its own client. A body that is
 *    complete needs no further bytes, and processing it does not wait for another body.
 * 2. Nobody waits for a client that hardly sends anything. Once a body has waited for a second, the bodies that arrived
 *    more slowly than 64 KiB/s during that second are ended, slowest first, until the waiting body fits as a whole. A
 *    body that itself waited during that second is not slow, because it was not read.
 *
 * Reserving a body's largest size when it begins would need no proof, because a body that holds memory would then never
 * wait. But ten hosts that send bodies of 10 MiB just faster than 64 KiB/s, with less than 1 MiB/s together, would hold
 * up everyone else's bodies for as long as they like.
 */
export class BodyBudget {
  private readonly shares = new Set<Share>()
  private readonly heldOfHost = new Map<number, number>()
  private heldBytes = 0

  constructor(private readonly limits: Limits) {}

  /** Admits a body, which holds nothing yet. */
  join(announced: Announced): BodyShare {
    const share: Share = {
      hostId: announced.hostId,
      maxBytes: roundUp(announced.maxBytes),
      end: announced.end,
      heldBytes: 0,
      arrivedBytes: 0,
      isComplete: false,
      waitedUntil: Number.NEGATIVE_INFINITY,
      waiting: undefined,
    }
    this.shares.add(share)
    return {
      isWaiting: () => share.waiting !== undefined,
      arrive: (bytes) => this.arrive(share, bytes),
      complete: () => this.complete(share),
      release: () => this.release(share),
    }
  }

  private async arrive(share: Share, bytes: number): Promise<void> {
    share.arrivedBytes += bytes
    const wanted = roundUp(share.arrivedBytes)
    if (wanted <= share.heldBytes || !this.shares.has(share) || this.grant(share, wanted)) return
    if (!(await this.wait(share, wanted))) throw tooManyBodies()
  }

  private complete(share: Share): void {
    share.isComplete = true
    share.maxBytes = share.heldBytes
    this.admitWaiting()
  }

  private release(share: Share): void {
    if (!this.shares.delete(share)) return
    this.hold(share, 0)
    share.waiting?.settle(false)
    this.admitWaiting()
  }

  /** Lets a share hold this many bytes; returns false, and changes nothing, if it has to wait for them. */
  private grant(share: Share, bytes: number): boolean {
    const before = share.heldBytes
    share.maxBytes = Math.max(share.maxBytes, bytes)
    this.hold(share, bytes)
    // A body that fits as a whole could be completed first, which leaves the others as they were.
    if ((this.fitsHost(share) && this.fitsProcess(share)) || this.canAllBeCompleted()) return true
    this.hold(share, before)
    return false
  }

  private hold(share: Share, bytes: number): void {
    const more = bytes - share.heldBytes
    share.heldBytes = bytes
    this.heldBytes += more
    const ofHost = this.heldByHost(share) + more
    if (ofHost > 0) this.heldOfHost.set(share.hostId, ofHost)
    else this.heldOfHost.delete(share.hostId)
  }

  private heldByHost({ hostId }: Share): number {
    return this.heldOfHost.get(hostId) ?? 0
  }

  private fitsHost(share: Share): boolean {
    return fits(share, this.heldByHost(share), this.limits.ofHost)
  }

  private fitsProcess(share: Share): boolean {
    return fits(share, this.heldBytes, this.limits.ofProcess)
  }

  /** Returns true if there is an order in which every body can be completed. */
  private canAllBeCompleted(): boolean {
    let ofProcess = this.heldBytes
    const ofHost = new Map(this.heldOfHost)
    let left = [...this.shares].sort((one, other) => missing(one) - missing(other))
    for (;;) {
      const blocked: Share[] = []
      for (const share of left) {
        const host = ofHost.get(share.hostId) ?? 0
        if (fits(share, host, this.limits.ofHost) && fits(share, ofProcess, this.limits.ofProcess)) {
          ofProcess -= share.heldBytes
          ofHost.set(share.hostId, host - share.heldBytes)
        } else blocked.push(share)
      }
      if (blocked.length === 0) return true
      if (blocked.length === left.length) return false
      left = blocked
    }
  }

  /** Resolves to true once the share holds the bytes, and to false if too many bodies wait or the share is released. */
  private async wait(share: Share, bytes: number): Promise<boolean> {
    const waiting = this.waiting()
    const ofSameHost = waiting.filter(({ hostId }) => hostId === share.hostId)
    if (waiting.length >= this.limits.waiting || ofSameHost.length >= this.limits.waitingOfHost) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    share.waiting = { bytes, settle: resolve }
    let before = this.arrivals()
    const timer = setInterval(() => {
      this.endSlowBodies(share, before)
      before = this.arrivals()
    }, this.limits.patienceMilliseconds)
    const isGranted = await promise
    clearInterval(timer)
    share.waiting = undefined
    share.waitedUntil = performance.now()
    return isGranted
  }

  /** Returns the waiting bodies, oldest first. */
  private waiting(): Share[] {
    return [...this.shares].filter((share) => share.waiting)
  }

  private admitWaiting(): void {
    for (const share of this.waiting()) {
      const { waiting } = share
      if (!waiting || !this.grant(share, waiting.bytes)) continue
      share.waiting = undefined
      waiting.settle(true)
    }
  }

  private arrivals(): Arrivals {
    const bytes = new Map<Share, number>()
    for (const share of this.shares) bytes.set(share, share.arrivedBytes)
    return { at: performance.now(), bytes }
  }

  /** Ends the bodies that have hardly arrived since `before`, slowest first, until `share` fits as a whole. */
  private endSlowBodies(share: Share, before: Arrivals): void {
    const leastBytes = (this.limits.leastBytesPerSecond * this.limits.patienceMilliseconds) / 1000
    const slow: { body: Share; bytes: number }[] = []
    for (const [body, bytesBefore] of before.bytes) {
      const bytes = body.arrivedBytes - bytesBefore
      const hasWaited = body.waiting !== undefined || body.waitedUntil > before.at
      if (this.shares.has(body) && !body.isComplete && !hasWaited && bytes < leastBytes)
        slow.push({ body, bytes })
    }
    slow.sort((one, other) => one.bytes - other.bytes)
    for (const { body } of slow) {
      const isProcessFull = !this.fitsProcess(share)
      const isHostFull = !this.fitsHost(share)
      if (!isProcessFull && !isHostFull) return
      // A body of another host takes nothing from this host's part.
      if (!isProcessFull && body.hostId !== share.hostId) continue
      body.end()
      this.release(body)
    }
  }
}

/** One body's part of the budget, as the reader of the body uses it. */
export interface BodyShare {
  /** Returns true while reading is paused because the next bytes do not fit. */
  isWaiting(): boolean
  /**
   * Counts bytes that have arrived; resolves once they fit.
   *
   * @throws DomainError `conflict` with a retry time if too many bodies wait, or if the share is released meanwhile
   */
  arrive(bytes: number): Promise<void>
  /** Notes that the body is complete, so that it will need nothing more. */
  complete(): void
  /** Returns what the body holds. */
  release(): void
}

export function tooManyBodies(): DomainError {
  return new DomainError('conflict', 'Too many large bodies are being sent concurrently; try again', [], 1)
}

/** How many bytes of each body had arrived at a `performance.now()` time. */
interface Arrivals {
  at: number
  bytes: Map<Share, number>
}

/**
 * Returns true if a body can be completed while the bodies of its host or process hold `held` bytes. A body that is
 * alone always can.
 */
function fits(share: Share, held: number, limit: number): boolean {
  const others = held - share.heldBytes
  return others === 0 || others + share.maxBytes <= limit
}

function missing({ maxBytes, heldBytes }: Share): number {
  return maxBytes - heldBytes
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / grantBytes) * grantBytes
}
