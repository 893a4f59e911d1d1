/** Maximum number of readings at a time in a process, which bounds their memory (decisions §31). */
const maxPlaces = 4
/** Maximum number of them for one host, and for one origin, so that neither keeps the others waiting. */
const maxShare = 2
/** Pause between two checks for a free place. */
const pauseMilliseconds = 100

/** Whose reading takes a place. */
export interface PlaceHolder {
  owner_id: number
  origin: string
}

/** A place that is taken. Must be freed once its reading has ended. */
export interface Place {
  free(): void
}

/**
 * The places for readings in this process: those that are due, those that hosts ask for, and those of the sandbox. A server
 * may take 20 s to send a file, so without shares, four calendars at a slow server, or of a host with thousands, would
 * keep everybody else's waiting, and without the bound, hosts could fill the memory with readings that they ask for.
 */
class ReadingPlaces {
  private readonly holders = new Set<PlaceHolder>()

  /** Takes a place at once; null if there is none for this reading. */
  take({ owner_id, origin }: PlaceHolder): Place | null {
    if (!this.hasFree() || this.fullHosts().includes(owner_id) || this.fullOrigins().includes(origin))
      return null
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
    return this.holders.size < maxPlaces
  }

  /** Returns the hosts that have their share. */
  fullHosts(): number[] {
    return full([...this.holders].map(({ owner_id }) => owner_id))
  }

  /** Returns the origins that have their share. */
  fullOrigins(): string[] {
    return full([...this.holders].map(({ origin }) => origin))
  }
}

function full<Holder>(holders: Holder[]): Holder[] {
  const counts = Map.groupBy(holders, (holder) => holder)
  return [...counts].filter(([, same]) => same.length >= maxShare).map(([holder]) => holder)
}

export const readingPlaces = new ReadingPlaces()
