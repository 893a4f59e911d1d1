import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '../errors.ts'
import { lockState } from './lock.ts'

/** How far a poll has come: the version of the last change that was handled. */
export interface Checkpoint {
  version: string | undefined
  /** Keeps a version: on the disk, whole or not at all, before it returns. */
  save(version: string): Promise<void>
  /** Leaves the state file to others. */
  close(): Promise<void>
}

/** What a checkpoint belongs to; with another address or filter it would skip changes. */
export interface CheckpointScope {
  root: string
  filters: Record<string, string | undefined>
  profile: string | undefined
  /** State file of the command line; a default one for each address and filter otherwise. */
  path?: string | undefined
  /** Version to begin after, instead of the one kept. */
  since?: string | undefined
}

interface State {
  root: string
  filters: Record<string, string | undefined>
  version: string
}

/**
 * Opens the checkpoint of a poll.
 *
 * @throws UsageError when the file holds something else, or belongs to another address or filter; Error when
 * another poll has it
 */
export async function openCheckpoint({
  root,
  filters,
  profile,
  path,
  since,
}: CheckpointScope): Promise<Checkpoint> {
  const file = path ?? defaultPath(root, filters, profile)
  await mkdir(dirname(file), { recursive: true })
  const unlock = await lockState(file)
  try {
    return await readCheckpoint(file, { root, filters, since }, unlock)
  } catch (error) {
    await unlock()
    throw error
  }
}

async function readCheckpoint(
  file: string,
  { root, filters, since }: Omit<CheckpointScope, 'path' | 'profile'>,
  close: () => Promise<void>,
): Promise<Checkpoint> {
  const state = await readState(file)
  if (state && !isSame(state, { root, filters })) {
    throw new UsageError(
      `"${file}" belongs to a poll of ${state.root} with other filters; choose another --state`,
    )
  }
  return {
    version: since ?? state?.version,
    save: (version) => writeState(file, { root, filters, version }),
    close,
  }
}

function defaultPath(
  root: string,
  filters: Record<string, string | undefined>,
  profile: string | undefined,
): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  const name = createHash('sha256')
    .update(JSON.stringify([root, filters, profile]))
    .digest('hex')
    .slice(0, 16)
  return join(base, 'partnerctl', `feed-${name}.json`)
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
    // Refused below, like any other file that is not ours.
  }
  throw new UsageError(`"${file}" is no state file of a feed poll`)
}

function isSame(state: State, { root, filters }: Omit<State, 'version'>): boolean {
  return state.root === root && JSON.stringify(state.filters) === JSON.stringify(filters)
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
