/** A taken slot. Its holder calls `free` when it no longer needs the slot. */
export interface Slot {
  free(): void
}

/** A limited number of slots per name. Shared slots expire after `milliseconds`, in case their holder dies. */
export interface Slots {
  /**
   * Takes a slot. Returns null if all slots of that name are taken. If the shared store is late, the slot is counted in
   * this process alone, because a request must not wait.
   */
  take(name: string, limit: number, milliseconds: number): Promise<Slot | null>
  /**
   * Like {@link take}, for work that can wait: if the shared store is late, no slot is taken. So unless the store counts
   * as down, all processes together never hold more than `limit` slots.
   */
  takePatiently(name: string, limit: number, milliseconds: number): Promise<Slot | null>
}

/** Counts slots in this process. Used without Redis and while Redis is down. */
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

  takePatiently(name: string, limit: number): Promise<Slot | null> {
    return this.take(name, limit)
  }
}

/**
 * Short-lived values shared by all processes. Messages use it to recognize repeated sends; it stands beside
 * {@link Slots} because both live in Redis, or in neither. A value may disappear at any time, so it must also be
 * available from the database.
 */
export interface SharedCache {
  /** Returns a value; null if the value is unknown or the shared store is missing, slow or down. */
  get(name: string): Promise<string | null>
  /** Stores a value for the given time and ignores failures. */
  set(name: string, value: string, milliseconds: number): void
}

/** A cache that stores nothing, for services without a shared store. */
export const noCache: SharedCache = { get: async () => null, set: () => {} }
