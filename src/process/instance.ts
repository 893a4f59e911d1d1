/**
 * What a scrape of `/metrics` counts: one process, or a supervisor with all of its workers. Its start time tells a
 * scraper whether counts begin again because of a restart. Without it, a target that leads to several processes looks
 * like restarts, and every rate is wrong without a sign (decisions §28).
 */
export interface Instance {
  id: string
  /** Unix time in seconds, with a fraction, so that processes that start in the same second differ. */
  startedSeconds: number
}

/** Environment variable in which a supervisor gives its workers its instance. */
export const instanceVariable = 'PARTNER_INSTANCE'

/** Returns the instance that this process belongs to. */
export function readInstance(): Instance {
  const ofSupervisor = process.env[instanceVariable]
  if (ofSupervisor !== undefined) return JSON.parse(ofSupervisor)
  return { id: crypto.randomUUID(), startedSeconds: performance.timeOrigin / 1000 }
}
