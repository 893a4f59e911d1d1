const collectEveryBytes = 2 * 1024 * 1024
const smallBytes = 32 * 1024
let bytesSince = 0

/**
 * Counts a body read or a chunk of a response written, and collects garbage now and then. Parsed JSON takes many times
 * its size, and the collector runs too late: without this, a few clients that only exchange large bodies make a
 * process grow by hundreds of megabytes.
 */
export function collectGarbageOccasionally(bytes: number): void {
  if (bytes < smallBytes) return
  bytesSince += bytes
  if (bytesSince < collectEveryBytes) return
  bytesSince = 0
  Bun.gc(true)
}
