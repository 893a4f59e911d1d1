import { setMaxListeners } from 'node:events'
import type { Slot, Slots } from '../platform/slots.ts'
import type { RequestFacts } from './request.ts'

/**
 * Maximum number of requests per key, across all processes, that may wait for a change (decisions §16) or be delayed by
 * a fault (decisions §22).
 */
const heldPerKey = { wait: 5, slow: 20 }
/** Prefixes of slot names. */
const names = { wait: 'key', slow: 'slow' }
/** Time after which a dead process's slots become free; longer than any request is held. */
const slotMilliseconds = 35_000

/** The requests that this process holds until something changes or a fault's delay ends. */
export class HeldRequests {
  private readonly controller = new AbortController()
  private held = 0

  /** @param maximum maximum number of requests that this process may hold */
  constructor(
    private readonly slots: Slots,
    private readonly maximum: number,
  ) {
    setMaxListeners(0, this.ending)
  }

  /** Number of requests currently held. */
  get size(): number {
    return this.held
  }

  /** Aborted when this process shuts down and must no longer hold requests. */
  get ending(): AbortSignal {
    return this.controller.signal
  }

  /**
   * Takes a slot for holding a key's request. The slot stays taken until `free` is called, which adds the time to the
   * request's facts. Returns null if the key or the process is at its limit, or if the process is shutting down.
   */
  async take(
    facts: RequestFacts,
    keyId: number,
    why: keyof typeof heldPerKey = 'wait',
  ): Promise<Slot | null> {
    if (this.ending.aborted || this.held >= this.maximum) return null
    this.held += 1
    const slot = await this.slots.take(`${names[why]}:${keyId}`, heldPerKey[why], slotMilliseconds)
    if (!slot) {
      this.held -= 1
      return null
    }
    const since = performance.now()
    let isTaken = true
    return {
      free: () => {
        if (!isTaken) return
        isTaken = false
        this.held -= 1
        facts.heldMilliseconds += performance.now() - since
        slot.free()
      },
    }
  }

  /** Releases all held requests and refuses to hold more. */
  end(): void {
    this.controller.abort()
  }
}
