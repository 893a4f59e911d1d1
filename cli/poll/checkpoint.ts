import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '../errors.ts'
import { lockState } from './lock.ts'

/** How far a poll has got: the version of the last change handled. */
export interface Checkpoint {
  version: string | undefined
  /** Stores a version: on disk, completely or not at all, before it returns. */
  save(version: string): Promise<void>
  /** Releases the state file. */
  close(): Promise<void>
}

/** What a checkpoint belongs to: with another address, account or filter it would skip changes. */
export interface CheckpointScope {
  root: string
  /** Whose changes they are: on live data the host, in the sandbox the key. */
  account: string
  filters: Record<string, string | undefined>
  /** State file of the command line; a default one for each scope otherwise. */
  path?: string | undefined
  /** Version to begin after, instead of the one kept. */
  since?: string | undefined
}

interface State {
  root: string
  /** Absent in a file of an earlier version, which did not record the account. */
  account?: string
  filters: Record<string, string | undefined>
  version: string
}

type Scope = Pick<CheckpointScope, 'root' | 'account' | 'filters'>

/**
 * Opens the checkpoint of a poll.
 *
 * @throws UsageError when the file is not a state file, or belongs to another address, account or filter, or does not
 * name its account; Error when another poll is using it
 */
export async function openCheckpoint({ path, since, ...scope }: CheckpointScope): Promise<Checkpoint> {
  const file = path ?? defaultPath(scope)
  await mkdir(dirname(file), { recursive: true })
  const unlock = lockState(file)
  try {
    const state = await readState(file)
    if (state) requireSameScope(file, state, scope, since !== undefined)
    return {
      version: since ?? state?.version,
      save: (version) => writeState(file, { ...scope, version }),
      close: async () => unlock(),
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/**
 * The default state file of an earlier version for these filters, if it exists. It does not name its account, so it is
 * never used by itself: with the checkpoint of another account, changes would be skipped.
 */
export async function findEarlierState(
  { root, filters }: Scope,
  profile: string | undefined,
): Promise<{ file: string; version: string } | undefined> {
  const file = stateFile([root, filters, profile])
  const state = await readState(file).catch(() => undefined)
  return state && state.account === undefined ? { file, version: state.version } : undefined
}

/** The version in the default state file of a scope, if there is one; reads only. */
export async function readCheckpoint(scope: Scope): Promise<string | undefined> {
  return (await readState(defaultPath(scope)))?.version
}

/** Named after everything the checkpoint belongs to, so that no two accounts of one home ever share it. */
function defaultPath({ root, account, filters }: Scope): string {
  return stateFile([root, account, filters])
}

function stateFile(scope: unknown[]): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  const name = createHash('sha256').update(JSON.stringify(scope)).digest('hex').slice(0, 16)
  return join(base, 'partnerctl', `feed-${name}.json`)
}

function requireSameScope(
  file: string,
  state: State,
  { root, account, filters }: Scope,
  isBegunAnew: boolean,
): void {
  if (state.root !== root || JSON.stringify(state.filters) !== JSON.stringify(filters)) {
    throw new UsageError(
      `"${file}" belongs to a poll of ${state.root} with other filters; choose another --state`,
    )
  }
  if (state.account === undefined) {
    if (isBegunAnew) return
    throw new UsageError(
      `"${file}" was written by an earlier version and does not name its account; if it belongs to this account, use --since "${state.version}" once`,
    )
  }
  if (state.account !== account)
    throw new UsageError(`"${file}" belongs to a poll of another account; choose another --state`)
}

async function readState(file: string): Promise<State | undefined> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  try {
    const state = JSON.parse(text)
    if (typeof state.version === 'string' && typeof state.root === 'string') return state
  } catch {
    // Reported below, like any other file that is not ours.
  }
  throw new UsageError(`"${file}" is not a state file of a feed poll`)
}

async function writeState(file: string, state: State): Promise<void> {
  const fresh = `${file}.new`
  const handle = await open(fresh, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(state))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(fresh, file)
}
