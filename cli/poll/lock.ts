import { Database } from 'bun:sqlite'
import { cannotUse } from './state-file.ts'

/**
 * Locks a state file for this process, and returns a function that unlocks it. The operating system holds the lock on a
 * file next to the state file, and releases it however the process ends. A new process with the same id therefore
 * cannot be mistaken for the holder.
 *
 * @throws Error if another process holds the lock, or the file cannot be written
 */
export function lockState(stateFile: string): () => void {
  const database = openLock(stateFile)
  try {
    // Writes the process id before taking the lock, because other processes cannot read data written under the lock.
    database.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER)')
    database.transaction(() => {
      database.run('DELETE FROM holder')
      database.run('INSERT INTO holder VALUES (?)', [process.pid])
    })()
    database.run('BEGIN IMMEDIATE')
  } catch (error) {
    const holder = holderOf(database)
    database.close()
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw cannotUse(stateFile, error)
    throw new Error(`Another poll (process ${holder}) is using "${stateFile}"; choose another --state`)
  }
  return () => database.close()
}

function openLock(stateFile: string): Database {
  try {
    return new Database(`${stateFile}.lock`, { create: true })
  } catch (error) {
    throw cannotUse(stateFile, error)
  }
}

function holderOf(database: Database): number | string {
  try {
    return (database.query('SELECT pid FROM holder').get() as { pid: number } | null)?.pid ?? 'unknown'
  } catch {
    return 'unknown'
  }
}
