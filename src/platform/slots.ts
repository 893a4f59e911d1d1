/** A slot taken; free it when it is no longer needed. */
export interface Slot {
  free(): void
}

/** A limited number of slots for each name, held for a while: who dies without freeing one loses it after `milliseconds`. */
export interface Slots {
  /** A slot, or null while all are taken. */
  take(name: string, limit: number, milliseconds: number): Promise<Slot | null>
}

/** Counts in this process: without Redis, and while it is down. */
export class MemorySlots implements Slots {
  private readonly taken = new Map<string, Set<object>>()

  async take(name: string, limit: number): Promise<Slot | null> {
    const slots = this.taken.get(name) ?? new Set()
    if (slots.size >= limit) return null
    const slot = {
      free: () => {
        slots.delete(slot)
        if (slots.size === 0) this.taken.delete(name)
      },
    }
    slots.add(slot)
    this.taken.set(name, slots)
    return slot
  }
}
