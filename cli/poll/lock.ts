import { Database } from 'bun:sqlite'

/**
 * Takes a state file for this process alone, and gives the function that leaves it again. The lock is one of the
 * operating system, on a file beside the state: it ends with its holder, however that ended, and does not take a
 * new process for an old one of the same number.
 *
 * @throws Error when another process has it
 */
export function lockState(stateFile: string): () => void {
  const database = new Database(`${stateFile}.lock`, { create: true })
  try {
    // Who holds it is written first, because a lock hides what is written under it.
    database.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER)')
    database.transaction(() => {
      database.run('DELETE FROM holder')
      database.run('INSERT INTO holder VALUES (?)', [process.pid])
    })()
    database.run('BEGIN IMMEDIATE')
  } catch (error) {
    const holder = holderOf(database)
    database.close()
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
    throw new Error(`Another poll (process ${holder}) uses "${stateFile}"; choose another --state`)
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
