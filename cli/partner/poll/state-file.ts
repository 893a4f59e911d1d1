import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, readlink, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isVersion, type Schemas } from '../../../client/src/index.ts'
import { UsageError } from '../../shared/errors.ts'
import { isMissingFile, reasonOf } from '../../shared/file-errors.ts'
import { decodeText } from '../../shared/utf8.ts'
import type { PartnerClient } from '../client.ts'
import {
  type Claim,
  ClaimLostError,
  claimFile,
  describeHolder,
  FileClaimedError,
  NoClaimError,
} from '../file-claim.ts'
import { requireStateFolder, stateFolder } from '../folders.ts'
import { sha256 } from '../sha256.ts'

/**
 * The poll that a state file belongs to. A file must not be used for another feed, address, account or filter, because
 * changes would be skipped.
 */
export interface FollowedFeed {
  /** Name of the feed; absent for the booking feed. */
  feed?: 'messages' | undefined
  root: string
  /** Account whose changes the poll follows: the host on live data, the key in the sandbox. */
  account: string
  filters: Record<string, string | undefined>
}

/**
 * Returns the account whose changes a poll follows (decisions §15): the host on live data, the key in the sandbox. A
 * key keeps its account when it is rotated.
 */
export function accountOf({ isSandbox }: PartnerClient, { id, host }: Schemas['Key']): string {
  return isSandbox ? `key ${id}` : `host ${host.email}`
}

/** Contents of a state file: the feed that is followed, and the version of the last change handled. */
export type State = FollowedFeed & { version: string }

/** A poll's position in a feed, kept in a state file. */
export interface Checkpoint {
  /** Version of the last change handled; undefined for a new file. */
  version: string | undefined
  /**
   * Requires that no other poll uses the file. A poll that was paused for a long time may have lost it, and must then
   * handle nothing more.
   *
   * @throws Error if the file may be another poll's
   */
  require(): void
  /** Aborted once another poll may use the file. */
  lost: AbortSignal
  /**
   * Stores the version of a handled change. Once `save` has returned, the version survives a kill.
   *
   * @throws Error if the file may be another poll's
   */
  save(version: string): void
  /** Flushes saved versions to disk, so that they survive a power failure. */
  sync(): void
  /** Syncs the file and unlocks it for other polls. */
  close(): Promise<void>
}

/**
 * Opens the state file of a poll and claims it.
 *
 * @param path file named on the command line; by default, each followed feed has its own file
 * @param since version to start after, instead of the stored version
 * @throws UsageError if the file is not a state file, or belongs to another feed; Error if another poll is using it
 */
export async function openCheckpoint(
  followed: FollowedFeed,
  { path, since }: { path?: string | undefined; since?: string | undefined },
): Promise<Checkpoint> {
  const named = path ?? join(requireStateFolder(), await defaultName(followed))
  await mkdir(dirname(named), { recursive: true }).catch((error) => {
    throw cannotWrite(named, error)
  })
  const file = await targetOf(named)
  const claim = await claimState(file)
  try {
    const state = await readState(file)
    if (state) requireSameFeed(file, state, followed)
    return new ClaimedStateFile(file, claim, new StateWriter(file, followed), since ?? state?.version)
  } catch (error) {
    await claim.release()
    throw error
  }
}

class ClaimedStateFile implements Checkpoint {
  constructor(
    private readonly file: string,
    private readonly claim: Claim,
    private readonly writer: StateWriter,
    public version: string | undefined,
  ) {}

  get lost(): AbortSignal {
    return this.claim.lost
  }

  require(): void {
    requireState(this.file, this.claim)
  }

  save(version: string): void {
    this.require()
    this.writer.append(version)
    this.version = version
  }

  sync(): void {
    this.writer.sync()
  }

  async close(): Promise<void> {
    this.writer.close()
    await this.claim.release()
  }
}

/**
 * Returns the file that a symbolic link leads to, also if that file does not exist yet; any other file unchanged.
 * Otherwise, a poll by the link and one by the file would have different claims, and the first would replace the link.
 */
async function targetOf(file: string): Promise<string> {
  const target = await readlink(file).catch(() => undefined)
  if (target === undefined) return file
  try {
    return await realpath(file)
  } catch (error) {
    if (!isMissingFile(error)) throw new Error(`Cannot read the state file "${file}": ${reasonOf(error)}`)
    return targetOf(resolve(dirname(file), target))
  }
}

/**
 * Returns the version in a feed's default state file; undefined if there is no such file, or no folder for it. Does not
 * claim the file.
 */
export async function readCheckpoint(followed: FollowedFeed): Promise<string | undefined> {
  const folder = stateFolder()
  if (folder === undefined) return undefined
  return (await readState(join(folder, await defaultName(followed))))?.version
}

/**
 * Returns a name derived from the address, the account and the filters, so two accounts in one home directory never
 * share a state file.
 */
async function defaultName({ feed, root, account, filters }: FollowedFeed): Promise<string> {
  const identity = JSON.stringify([root, account, filters])
  const hash = await sha256(identity)
  return `${feed ?? 'feed'}-${hash.slice(0, 16)}.json`
}

function requireSameFeed(file: string, state: State, { feed, root, account, filters }: FollowedFeed): void {
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

/** @throws Error if another poll is using the file, or no claim can be made */
async function claimState(stateFile: string): Promise<Claim> {
  try {
    return await claimFile(stateFile)
  } catch (error) {
    if (error instanceof FileClaimedError) throw new Error(explainClaimed(stateFile, error))
    if (error instanceof NoClaimError) throw new Error(explainNoClaim(error))
    throw error
  }
}

function explainClaimed(stateFile: string, { holder, endsInSeconds }: FileClaimedError): string {
  const sentence = `Another poll (${describeHolder(holder)}) is using "${stateFile}": stop it first, because a poll with another --state would hand everything over again`
  if (endsInSeconds === null) return sentence
  return `${sentence}. If it has ended already, start this poll again in ${endsInSeconds} s, when its claim has run out`
}

function explainNoClaim({ folder, reason }: NoClaimError): string {
  return `Cannot make a file in "${folder}" that keeps other polls from using the same state file: ${reason}; make the folder writable, name a file elsewhere with --state, or use --consumer`
}

/** @throws Error if another poll may use the file, or the claim cannot be read */
function requireState(stateFile: string, claim: Claim): void {
  try {
    claim.require()
  } catch (error) {
    if (error instanceof ClaimLostError) throw new Error(explainLost(stateFile))
    if (error instanceof NoClaimError) throw new Error(explainNoClaim(error))
    throw error
  }
}

function explainLost(stateFile: string): string {
  return `This poll no longer holds "${stateFile}": it was paused for more than 60 s and another poll took over, or its claim was removed. It has stopped before the next change`
}

/** Number of appended lines after which the file is rewritten to keep it small. */
const maxLines = 10_000

/**
 * Reads a state file, which is a line of JSON followed by a line for each version handled since. Ignores a line that a
 * kill or a full disk cut off, and any line that was joined to it. Resuming from an earlier version repeats changes,
 * but loses none.
 *
 * @throws UsageError if the file is not a state file
 */
export async function readState(file: string): Promise<State | undefined> {
  const bytes = await readFile(file).catch((error) => {
    if (isMissingFile(error)) return undefined
    throw new Error(`Cannot read the state file "${file}": ${reasonOf(error)}`)
  })
  if (bytes === undefined) return undefined
  const text = decodeText(bytes, `"${file}"`)
  const [first = '', ...lines] = text.split('\n')
  try {
    const state = JSON.parse(first)
    const version = lines.slice(0, -1).findLast(isVersion) ?? state.version
    if (isVersion(version) && typeof state.root === 'string') return { ...state, version }
  } catch {
    // Reported below, like any other file that is not a state file.
  }
  throw new UsageError(`"${file}" is not a state file of a feed poll`)
}

/** Writes a state file. The first append rewrites the whole file. */
class StateWriter {
  private descriptor: number | undefined
  /** Lines appended since the file was last rewritten. */
  private lines = 0
  private isSynced = true

  constructor(
    private readonly file: string,
    private readonly followed: FollowedFeed,
  ) {}

  append(version: string): void {
    try {
      if (this.descriptor === undefined || this.lines >= maxLines) this.startOver(version)
      else {
        // Writes the whole line or throws; `writeSync` could write only part of it if the disk is nearly full.
        writeFileSync(this.descriptor, `${version}\n`)
        this.lines += 1
        this.isSynced = false
      }
    } catch (error) {
      throw cannotWrite(this.file, error)
    }
  }

  sync(): void {
    try {
      if (this.descriptor !== undefined && !this.isSynced) fsyncSync(this.descriptor)
    } catch (error) {
      throw cannotWrite(this.file, error)
    }
    this.isSynced = true
  }

  close(): void {
    if (this.descriptor === undefined) return
    fsyncSync(this.descriptor)
    closeSync(this.descriptor)
    this.descriptor = undefined
  }

  private startOver(version: string): void {
    this.close()
    const fresh = `${this.file}.new`
    this.descriptor = openSync(fresh, 'w', 0o600)
    writeFileSync(this.descriptor, `${JSON.stringify({ ...this.followed, version })}\n`)
    fsyncSync(this.descriptor)
    renameSync(fresh, this.file)
    this.lines = 0
  }
}

function cannotWrite(file: string, error: unknown): Error {
  return new Error(`Cannot write the state file "${file}": ${reasonOf(error)}`)
}
