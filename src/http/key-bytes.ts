/** Counts bytes that are held for each key. */
export class KeyBytes {
  private readonly held = new Map<number, number>()
  total = 0

  of(keyId: number): number {
    return this.held.get(keyId) ?? 0
  }

  /** Adds bytes; returns what takes them away again, however often it is called. */
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
