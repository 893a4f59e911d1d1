/** A taken slot, which its holder frees when it is no longer needed. */
export interface Slot {
  free(): void
}

/** A limited number of slots per name. A shared slot expires after `milliseconds`, in case its holder dies. */
export interface Slots {
  /** Takes a slot; returns null while all are taken. */
  take(name: string, limit: number, milliseconds: number): Promise<Slot | null>
}

/** Counts slots in this process, for services without Redis and while Redis is down. */
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

/**
 * Short-lived values that all processes share. Any value may be forgotten, so each value must also be available from
 * the database.
 */
export interface SharedCache {
  /** Returns a value; null if it is unknown, or while the shared store is missing, slow or down. */
  get(name: string): Promise<string | null>
  /** Stores a value for the given time and ignores failures. */
  set(name: string, value: string, milliseconds: number): void
}

/** The cache of a service without a shared store; it stores nothing. */
export const noCache: SharedCache = { get: async () => null, set: () => {} }
