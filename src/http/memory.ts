/** Counts the bytes held for each key. */
export class KeyBytes {
  private readonly held = new Map<number, number>()
  total = 0

  of(keyId: number): number {
    return this.held.get(keyId) ?? 0
  }

  /** Adds bytes and returns a function that subtracts them again. Repeated calls to it have no effect. */
  take(keyId: number, bytes: number): () => void {
    this.held.set(keyId, this.of(keyId) + bytes)
    this.total += bytes
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.total -= bytes
      const left = this.of(keyId) - bytes
      if (left > 0) this.held.set(keyId, left)
      else this.held.delete(keyId)
    }
  }
}

const collectEveryBytes = 2 * 1024 * 1024
const smallBytes = 32 * 1024
let bytesSince = 0

/**
 * Counts the bytes of each body read or response chunk written, and collects garbage from time to time. Parsed JSON
 * takes up many times its size, and the collector runs too late. Without this function, a few clients that exchange
 * only large bodies make a process grow by hundreds of megabytes.
 */
export function collectGarbageOccasionally(bytes: number): void {
  if (bytes < smallBytes) return
  bytesSince += bytes
  if (bytesSince < collectEveryBytes) return
  bytesSince = 0
  Bun.gc(true)
}
