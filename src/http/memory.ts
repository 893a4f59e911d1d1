/** Bounds of a {@link ByteBudget}. */
interface Bounds {
  /** Maximum number of reserved bytes, per owner and in the whole process. */
  ofOwner: number
  ofProcess: number
  /** Maximum number of waiting requests, per owner and in the whole process. */
  waitingOfOwner: number
  waiting: number
}

interface Waiting {
  ownerId: number
  bytes: number
  begin(release: () => void): void
}

/**
 * A byte-weighted semaphore. Without it, a few keys that send large bodies or leave large responses unread could fill
 * the process's memory. An owner is a host or a key. If nothing else counts against a bound, a request of any size
 * fits, so no request is blocked forever.
 */
export class ByteBudget {
  private readonly held = new Map<number, number>()
  private total = 0
  private readonly queue = new Set<Waiting>()

  constructor(private readonly bounds: Bounds) {}

  /** Reserves bytes for an owner and returns a function that releases them; null if there is currently no room. */
  take(ownerId: number, bytes: number): (() => void) | null {
    const ofOwner = this.held.get(ownerId) ?? 0
    const isWithinOwner = ofOwner === 0 || ofOwner + bytes <= this.bounds.ofOwner
    const isWithinProcess = this.total === 0 || this.total + bytes <= this.bounds.ofProcess
    if (!isWithinOwner || !isWithinProcess) return null
    this.add(ownerId, bytes)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.add(ownerId, -bytes)
      this.admitWaiting()
    }
  }

  /**
   * Reserves bytes as soon as they fit, and returns a function that releases them. Returns null if too many requests
   * are waiting, or once `signal` is aborted.
   */
  async await(ownerId: number, bytes: number, signal: AbortSignal): Promise<(() => void) | null> {
    const release = this.take(ownerId, bytes)
    if (release) return release
    const ofSameOwner = [...this.queue].filter((waiting) => waiting.ownerId === ownerId).length
    if (signal.aborted || ofSameOwner >= this.bounds.waitingOfOwner || this.queue.size >= this.bounds.waiting)
      return null
    const { promise, resolve } = Promise.withResolvers<(() => void) | null>()
    const waiting = { ownerId, bytes, begin: resolve }
    this.queue.add(waiting)
    const giveUp = () => {
      this.queue.delete(waiting)
      resolve(null)
    }
    signal.addEventListener('abort', giveUp)
    return promise.finally(() => signal.removeEventListener('abort', giveUp))
  }

  private add(ownerId: number, bytes: number): void {
    this.total += bytes
    const left = (this.held.get(ownerId) ?? 0) + bytes
    if (left > 0) this.held.set(ownerId, left)
    else this.held.delete(ownerId)
  }

  /** Admits the waiting requests that fit, oldest first. */
  private admitWaiting(): void {
    for (const waiting of this.queue) {
      const release = this.take(waiting.ownerId, waiting.bytes)
      if (!release) continue
      this.queue.delete(waiting)
      waiting.begin(release)
    }
  }
}

const lookEveryBytes = 2 * 1024 * 1024
const smallBytes = 32 * 1024
const growthBytes = 64 * 1024 * 1024
let bytesSince = 0
let leastResident = process.memoryUsage.rss()

/**
 * Counts the bytes of a request body or of a part of a response, and collects garbage if the process has grown by
 * 64 MiB. Parsed JSON takes up many times the size of its text, and the garbage collector would run too late on its
 * own. Without this function, a few clients that exchange only large bodies would make a process grow by hundreds of
 * megabytes. A collection pauses all requests for up to 0.1 s.
 */
export function collectGarbageOccasionally(bytes: number): void {
  if (bytes < smallBytes) return
  bytesSince += bytes
  if (bytesSince < lookEveryBytes) return
  bytesSince = 0
  const resident = process.memoryUsage.rss()
  leastResident = Math.min(leastResident, resident)
  if (resident - leastResident < growthBytes) return
  Bun.gc(true)
  leastResident = process.memoryUsage.rss()
}
