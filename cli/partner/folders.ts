import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * The folders in which the command line keeps files of its own, by the XDG Base Directory Specification.
 *
 * A variable counts only if it is absolute. Otherwise, `HOME=` would have a command read the profiles of the folder in
 * which it is started, and send a key to an address of a stranger's choice.
 */

/** Returns the folder of the profiles; undefined if the user has none. */
export function configFolder(): string | undefined {
  return folderOf('XDG_CONFIG_HOME', '.config')
}

/** Returns the folder of the polls' state files; undefined if the user has none. */
export function stateFolder(): string | undefined {
  return folderOf('XDG_STATE_HOME', join('.local', 'state'))
}

/**
 * Returns the folder of the polls' state files.
 *
 * @throws Error if the user has none
 */
export function requireStateFolder(): string {
  const folder = stateFolder()
  if (folder === undefined)
    throw new Error(
      'There is no home folder to keep the checkpoint in: set HOME or XDG_STATE_HOME to an absolute path, name a file with --state, or let the service keep it with --consumer',
    )
  return folder
}

function folderOf(variable: string, standard: string): string | undefined {
  const named = process.env[variable]
  if (named !== undefined && isAbsolute(named)) return join(named, 'partnerctl')
  const home = homeFolder()
  return home && join(home, standard, 'partnerctl')
}

/**
 * Returns the home folder of the user; undefined if there is none. Without `HOME`, it is the account's. Node and Bun
 * disagree about a variable that is empty, and about a user without an account.
 */
function homeFolder(): string | undefined {
  if (process.platform !== 'win32' && process.env.HOME !== undefined)
    return isAbsolute(process.env.HOME) ? process.env.HOME : undefined
  try {
    const home = homedir()
    return isAbsolute(home) ? home : undefined
  } catch {
    return undefined
  }
}
