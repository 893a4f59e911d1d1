import DataLoader from 'dataloader'
import type { Db } from '../../platform/mongo/connection.ts'
import { endTries, type Outcome } from './deliveries-store.ts'
import { type Left, leaveDue } from './due-store.ts'

/**
 * Attempts that end within this time are stored together, because storing them one by one would keep the database
 * busier with hints than with bookings.
 */
const togetherMilliseconds = 10

/** Stores attempts' outcomes and releases endpoints, in batches across all endpoints. */
export interface Endings {
  endTry(outcome: Outcome): Promise<void>
  leave(left: Left): Promise<void>
}

/** Returns the writer that batches outcomes and releases for a database. */
export function endingsOf(db: Db): Endings {
  const tries = together((outcomes: readonly Outcome[]) => endTries(db, outcomes))
  const left = together((endpoints: readonly Left[]) => leaveDue(db, endpoints))
  return {
    endTry: (outcome) => tries.load(outcome),
    leave: (endpoint) => left.load(endpoint),
  }
}

function together<T>(store: (items: readonly T[]) => Promise<void>): DataLoader<T, void> {
  const storeAll = async (items: readonly T[]) => {
    await store(items)
    return items.map(() => undefined)
  }
  const batchScheduleFn = (run: () => void) => setTimeout(run, togetherMilliseconds)
  return new DataLoader<T, void>(storeAll, { cache: false, maxBatchSize: 500, batchScheduleFn })
}
