/** Who takes a place: whose data the work is about, and the origin that it waits for. */
export interface PlaceHolder {
  owner_id: number
  /** Empty if the work waits for no server. */
  origin: string
}

/** A place that is taken. Must be freed once its work has ended. */
export interface Place {
  free(): void
}

/** How much may go on at a time: in all, and of one owner or at one origin. */
export interface PlaceLimits {
  total: number
  share: number
}

/** Pause between two checks for a free place. */
const pauseMilliseconds = 100

/**
 * Places for work in this process that takes megabytes, and that may wait for another server for seconds. Without the
 * total, such work could fill the memory; without the shares, one slow server, or one owner with much work, would keep
 * everybody else waiting.
 */
export class Places {
  private readonly holders = new Set<PlaceHolder>()

  constructor(private readonly limits: PlaceLimits) {}

  /** Takes a place at once; null if there is none for this work. */
  take({ owner_id, origin }: PlaceHolder): Place | null {
    if (!this.hasFree()) return null
    if (this.fullOwners().includes(owner_id)) return null
    if (this.fullOrigins().includes(origin)) return null
    const holder = { owner_id, origin }
    this.holders.add(holder)
    return { free: () => void this.holders.delete(holder) }
  }

  /** Waits for a place. Returns null if this would take longer than `milliseconds`. */
  async wait(holder: PlaceHolder, milliseconds: number): Promise<Place | null> {
    const deadline = performance.now() + milliseconds
    for (;;) {
      const place = this.take(holder)
      if (place) return place
      if (performance.now() + pauseMilliseconds > deadline) return null
      await Bun.sleep(pauseMilliseconds)
    }
  }

  hasFree(): boolean {
    return this.holders.size < this.limits.total
  }

  /** Returns the owners that have their share. */
  fullOwners(): number[] {
    return this.full([...this.holders].map(({ owner_id }) => owner_id))
  }

  /** Returns the origins that have their share. */
  fullOrigins(): string[] {
    const origins = [...this.holders].map(({ origin }) => origin)
    return this.full(origins.filter(Boolean))
  }

  private full<Holder>(holders: Holder[]): Holder[] {
    const counts = Map.groupBy(holders, (holder) => holder)
    return [...counts].filter(([, same]) => same.length >= this.limits.share).map(([holder]) => holder)
  }
}
