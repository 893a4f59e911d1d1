import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '../errors.ts'
import { lockState } from './lock.ts'
import { cannotUse, openState, readState, type State } from './state-file.ts'

/** A poll's position in a feed: the version of the last change handled. */
export interface Checkpoint {
  version: string | undefined
  /** Stores a version. Once `save` has returned, a version in a state file survives if the process is killed. */
  save(version: string): void
  /** Makes the saved version durable by flushing it to disk, to survive a power failure, or acknowledging it. */
  sync(): Promise<void>
  /** Releases the state file. */
  close(): Promise<void>
}

/** Identifies a checkpoint. A poll with another address, account or filter would skip changes if it used this one. */
export interface CheckpointScope {
  /** Name of the feed; absent for the booking feed, whose state files do not contain a name. */
  feed?: 'messages' | undefined
  root: string
  /** Account whose changes the poll follows: the host on live data, the key in the sandbox. */
  account: string
  filters: Record<string, string | undefined>
  /** State file named on the command line; by default, each scope has its own file. */
  path?: string | undefined
  /** Version to start after, instead of the stored version. */
  since?: string | undefined
}

type Scope = Pick<CheckpointScope, 'feed' | 'root' | 'account' | 'filters'>

/**
 * Opens a poll's checkpoint.
 *
 * @throws UsageError if the file is not a state file, or belongs to another feed, address, account or filter; Error if
 *   another poll is using it
 */
export async function openCheckpoint({ path, since, ...scope }: CheckpointScope): Promise<Checkpoint> {
  const file = path ?? defaultPath(scope)
  await mkdir(dirname(file), { recursive: true }).catch((error) => {
    throw cannotUse(file, error)
  })
  const unlock = lockState(file)
  try {
    const state = await readState(file)
    if (state) requireSameScope(file, state, scope)
    const version = since ?? state?.version
    const writer = openState(file, scope)
    return {
      version,
      save: (handled) => writer.append(handled),
      sync: () => writer.sync(),
      async close() {
        await writer.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Reads the version from a scope's default state file, if there is one. Changes nothing. */
export async function readCheckpoint(scope: Scope): Promise<string | undefined> {
  return (await readState(defaultPath(scope)))?.version
}

/** Returns a path derived from the whole scope, so two accounts in one home directory never share a state file. */
function defaultPath({ feed, root, account, filters }: Scope): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  const scope = JSON.stringify([root, account, filters])
  const name = createHash('sha256').update(scope).digest('hex').slice(0, 16)
  return join(base, 'partnerctl', `${feed ?? 'feed'}-${name}.json`)
}

function requireSameScope(file: string, state: State, { feed, root, account, filters }: Scope): void {
  if (state.feed !== feed)
    throw new UsageError(`"${file}" belongs to a poll of another feed; choose another --state`)
  if (state.root !== root || JSON.stringify(state.filters) !== JSON.stringify(filters)) {
    throw new UsageError(
      `"${file}" belongs to a poll of ${state.root} with other filters; choose another --state`,
    )
  }
  if (state.account !== account)
    throw new UsageError(`"${file}" belongs to a poll of another account; choose another --state`)
}
