/**
 * Short-lived values that all processes share. Any value may be forgotten, so the database must be able to provide each
 * of them too.
 */
export interface SharedCache {
  /** Returns a value; null if it is unknown, or while the shared store is missing, slow or down. */
  get(name: string): Promise<string | null>
  /** Keeps a value for a time. A failure is ignored. */
  set(name: string, value: string, milliseconds: number): void
}

/** The cache of a service without a shared store, which remembers nothing. */
export const noCache: SharedCache = { get: async () => null, set: () => {} }
