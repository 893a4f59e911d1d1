/**
 * Counts the bytes that each key holds. Without it, a few keys that leave large responses unread could fill the
 * process's memory. If a key holds nothing, it may take any number of bytes, so that no response is refused forever.
 */
export class ByteBudget {
  private readonly held = new Map<number, number>()

  /** @param ofKey maximum number of bytes of a key */
  constructor(private readonly ofKey: number) {}

  /** Takes bytes for a key and returns a function that releases them; null if there is currently no room. */
  take(keyId: number, bytes: number): (() => void) | null {
    const held = this.held.get(keyId) ?? 0
    if (held > 0 && held + bytes > this.ofKey) return null
    this.add(keyId, bytes)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.add(keyId, -bytes)
    }
  }

  private add(keyId: number, bytes: number): void {
    const left = (this.held.get(keyId) ?? 0) + bytes
    if (left > 0) this.held.set(keyId, left)
    else this.held.delete(keyId)
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
