import { Database } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'

/**
 * Locks of files that one process at a time may change: the profiles, and a poll's state file. Without them, the later
 * of two logins removes the earlier one's profile, and two polls with one state file skip changes.
 */

/** Error thrown when another process holds the lock. */
export class FileLockedError extends Error {
  override readonly name = 'FileLockedError'
  /** @param holder id of the process that holds the lock, or `unknown` */
  constructor(readonly holder: number | string) {
    super(`Another process (${holder}) holds the lock`)
  }
}

/**
 * Locks a file for this process, and returns a function that unlocks it. The lock is an operating system lock on a file
 * next to it, and is released no matter how the process ends. A new process with the same id can therefore never be
 * mistaken for the holder.
 *
 * @param waitMilliseconds how long to wait until another process has released the lock
 * @throws FileLockedError if another process still holds the lock; any other error if the lock's file cannot be written
 */
export function lockFile(file: string, waitMilliseconds = 0): () => void {
  const lock = `${file}.lock`
  // Opened first by the file system, whose errors have a reason. Those of SQLite do not say why.
  closeSync(openSync(lock, 'a', 0o600))
  const database = new Database(lock)
  try {
    database.run(`PRAGMA busy_timeout = ${waitMilliseconds}`)
    // Writes the process id before taking the lock, because other processes cannot read data written under the lock.
    database
      .transaction(() => {
        database.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER)')
        database.run('DELETE FROM holder')
        database.run('INSERT INTO holder VALUES (?)', [process.pid])
      })
      .immediate()
    database.run('BEGIN IMMEDIATE')
  } catch (error) {
    const isHeld = (error as { code?: string }).code === 'SQLITE_BUSY'
    const failure = isHeld ? new FileLockedError(holderOf(database)) : error
    database.close()
    throw failure
  }
  return () => database.close()
}

function holderOf(database: Database): number | string {
  try {
    return (database.query('SELECT pid FROM holder').get() as { pid: number } | null)?.pid ?? 'unknown'
  } catch {
    return 'unknown'
  }
}
