const collectEveryBytes = 2 * 1024 * 1024
const smallBytes = 32 * 1024
let bytesSince = 0

/**
 * Counts a body read or a piece of an answer written. What large JSON is made into is many times its size, and the
 * collector comes too late for it: without this, a few clients that send or ask for nothing else make a process grow
 * by hundreds of megabytes.
 */
export function countGarbage(bytes: number): void {
  if (bytes < smallBytes) return
  bytesSince += bytes
  if (bytesSince < collectEveryBytes) return
  bytesSince = 0
  Bun.gc(true)
}
