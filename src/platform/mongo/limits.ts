/**
 * Time limits on database operations, so that no request hangs. Their sum stays below the 30 s that the command line
 * and most HTTP clients wait.
 */
/** Limit for a majority of the replica set to acknowledge a write. */
export const majorityTimeoutMilliseconds = 4000
/** Limit for a transaction, including all its attempts. */
export const transactionTimeoutMilliseconds = 7000
/** Limit on a writer's wait for its turn within this process. */
export const queueTimeoutMilliseconds = 6000
