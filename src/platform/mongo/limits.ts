/**
 * How long anything waits for the database, so that no request hangs. Together they stay below
 * the 30 s that the command line and most HTTP clients wait.
 */
/** For a majority of the replica set to acknowledge a write. */
export const majorityTimeoutMilliseconds = 4000
/** For a transaction with all its attempts. */
export const transactionTimeoutMilliseconds = 7000
/** For the turn of a writer within this process. */
export const queueTimeoutMilliseconds = 6000
