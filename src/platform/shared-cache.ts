/** Short-lived values that all processes share. Only for what the database answers too, because any may be forgotten. */
export interface SharedCache {
  /** Returns a value; null if it is unknown, or while the shared store is missing, slow or down. */
  get(name: string): Promise<string | null>
  /** Keeps a value for a time. A failure is ignored. */
  set(name: string, value: string, milliseconds: number): void
}

/** The cache of a service without a shared store, which remembers nothing. */
export const noCache: SharedCache = { get: async () => null, set: () => {} }
