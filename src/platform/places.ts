/** A place taken; free it when it is no longer needed. */
export interface Place {
  free(): void
}

/** A limited number of places for each name, held for a while: who dies without freeing one loses it after `milliseconds`. */
export interface Places {
  /** A place, or null while all are taken. */
  take(name: string, limit: number, milliseconds: number): Promise<Place | null>
}

/** Counts in this process: without Redis, and while it is down. */
export class MemoryPlaces implements Places {
  private readonly taken = new Map<string, Set<object>>()

  async take(name: string, limit: number): Promise<Place | null> {
    const places = this.taken.get(name) ?? new Set()
    if (places.size >= limit) return null
    const place = {
      free: () => {
        places.delete(place)
        if (places.size === 0) this.taken.delete(name)
      },
    }
    places.add(place)
    this.taken.set(name, places)
    return place
  }
}
