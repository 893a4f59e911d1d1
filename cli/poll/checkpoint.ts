import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '../errors.ts'
import { lockState } from './lock.ts'
import { cannotUse, openState, readState, type State } from './state-file.ts'

/** How far a poll has got: the version of the last change handled. */
export interface Checkpoint {
  version: string | undefined
  /** Stores a version: once it returns, a killed process has not lost it. */
  save(version: string): void
  /** Stores on disk what was saved: once it returns, a machine without power has not lost it. */
  sync(): Promise<void>
  /** Releases the state file. */
  close(): Promise<void>
}

/** The owner of a checkpoint: with another address, account or filter it would skip changes. */
export interface CheckpointScope {
  /** The feed, unless it is that of the bookings: their files have always been without. */
  feed?: 'messages' | undefined
  root: string
  /** Whose changes they are: on live data the host, in the sandbox the key. */
  account: string
  filters: Record<string, string | undefined>
  /** State file of the command line; a default one for each scope otherwise. */
  path?: string | undefined
  /** Version to begin after, instead of the one kept. */
  since?: string | undefined
}

type Scope = Pick<CheckpointScope, 'feed' | 'root' | 'account' | 'filters'>

/**
 * Opens the checkpoint of a poll.
 *
 * @throws UsageError when the file is not a state file, or belongs to another address, account or filter; Error when another poll is using it
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

/** The version in the default state file of a scope, if there is one; reads only. */
export async function readCheckpoint(scope: Scope): Promise<string | undefined> {
  return (await readState(defaultPath(scope)))?.version
}

/** Named after everything the checkpoint belongs to, so that no two accounts of one home ever share it. */
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
