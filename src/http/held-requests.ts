import { setMaxListeners } from 'node:events'
import type { Slot, Slots } from '../platform/slots.ts'

/** How many requests of one key are held at once, over all processes (decisions §16), and delayed by a fault (§22). */
const heldPerKey = { wait: 5, slow: 20 }
/** Names of the slots. */
const names = { wait: 'key', slow: 'slow' }
/** Longer than any request is held: the slot of a process that died is free after this. */
const slotMilliseconds = 35_000

/** The requests that this process holds until something changes. */
export class HeldRequests {
  private readonly controller = new AbortController()
  private held = 0

  /** @param maximum how many this process holds */
  constructor(
    private readonly slots: Slots,
    private readonly maximum: number,
  ) {
    setMaxListeners(0, this.ending)
  }

  /** How many are held now. */
  get size(): number {
    return this.held
  }

  /** Aborted when this process shuts down: nothing is to be held any more. */
  get ending(): AbortSignal {
    return this.controller.signal
  }

  /** A slot for a request of a key, or null where it cannot be held: the key has enough of them, or the process has. */
  async take(keyId: number, why: keyof typeof heldPerKey = 'wait'): Promise<Slot | null> {
    if (this.ending.aborted || this.held >= this.maximum) return null
    this.held += 1
    const slot = await this.slots.take(`${names[why]}:${keyId}`, heldPerKey[why], slotMilliseconds)
    if (!slot) this.held -= 1
    return (
      slot &&
      once(() => {
        this.held -= 1
        slot.free()
      })
    )
  }

  /** Lets go of everything that is held. */
  end(): void {
    this.controller.abort()
  }
}

function once(free: () => void): Slot {
  let isTaken = true
  return {
    free() {
      if (isTaken) free()
      isTaken = false
    },
  }
}
