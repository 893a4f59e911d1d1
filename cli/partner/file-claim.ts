import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isMissingFile, reasonOf } from '../shared/file-errors.ts'
import { type ProcessIdentity, stateOf, thisProcess } from './process-identity.ts'
import { sha256 } from './sha256.ts'

/**
 * Claims to files that one process at a time may change: the profiles, and a poll's state file. Without them, the later
 * of two logins would remove the earlier one's profile, and two polls with one state file would hand changes over twice.
 *
 * A claim is a plain file next to the claimed one, so it works on whatever file system, through two mounts of a folder
 * and from two hosts. It names its process and is renewed every 10 s.
 *
 *     make an own claim, look --no other claim is alive--> held --release--> removed
 *      |                 ^                                   |
 *      |                 +--wait: the own claim is first     +--the claim is gone, or not the own one--> lost
 *      +--withdraw, wait, make a new one: another is first
 *
 * - **Two processes never both hold a file.** Every claim has a name of its own, so nobody removes or replaces another
 *   one by mistake. Each process makes its claim first and looks then, so of two, at least the one that looks later sees
 *   the other. A folder is read anew after a file was made in it, on network file systems too. The first by name waits,
 *   and the others withdraw.
 * - **A kill frees the file at once** for processes of the same place (`ProcessIdentity`), because they see that the
 *   process has ended. A process that is stopped keeps its claim there.
 * - **Elsewhere, a claim ends 60 s after it was last renewed.** Both times are the file system's: that of the claim and
 *   that of the own one, which was just made. Clocks of hosts do not count.
 * - **A process that was paused notices.** Whoever ends a claim moves it away, looks once more whether it was renewed,
 *   and puts it back if so; in between, others see that it was renewed. Its holder reads it before each step and, if the last renewal is long ago, renews it first.
 */

/** How often a claim is renewed. */
const renewalMilliseconds = 10_000
/** How long a claim counts after its last renewal if nothing else tells whether its process runs. */
const lifetimeMilliseconds = 60_000

/** Error thrown when another process has claimed the file. */
export class FileClaimedError extends Error {
  override readonly name = 'FileClaimedError'
  /**
   * @param holder the process; null if its claim cannot be read
   * @param endsInSeconds when the claim will have ended if it is not renewed; null if it ends with its process
   */
  constructor(
    readonly holder: ProcessIdentity | null,
    readonly endsInSeconds: number | null,
  ) {
    super(`${describeHolder(holder)} has claimed the file`)
  }
}

/** Error thrown when no claim can be made in a folder. */
export class NoClaimError extends Error {
  override readonly name = 'NoClaimError'
  constructor(
    readonly folder: string,
    readonly reason: string,
  ) {
    super(`Cannot make a claim in the folder "${folder}": ${reason}`)
  }
}

/** Error thrown when this process no longer holds a file that it had claimed. */
export class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError'
}

/** A file that this process has claimed. */
export interface Claim {
  /**
   * Requires that this process still holds the file.
   *
   * @throws ClaimLostError if it does not; NoClaimError if the claim cannot be read
   */
  require(): void
  /** Aborted once the claim is known to be lost, with a ClaimLostError as its reason. */
  lost: AbortSignal
  release(): Promise<void>
}

/** Returns the words that name the holder of a claim. */
export function describeHolder(holder: ProcessIdentity | null): string {
  if (holder === null) return 'a process whose claim cannot be read'
  const where = holder.place === thisProcess.place ? '' : ` on host "${holder.host}"`
  return `process ${holder.process}${where}`
}

/** Minimum wait: the first of several processes that claim a file at the same time must see the others withdraw. */
const collisionMilliseconds = 2000
/** Pauses are random, so that processes that collided do not collide again. */
const pauseMilliseconds = { least: 5, most: 50 } as const

/**
 * Claims a file for this process.
 *
 * @param waitMilliseconds how long to wait until other processes have released the file
 * @throws FileClaimedError if another process still holds it; NoClaimError if the folder allows no claim
 */
export async function claimFile(file: string, waitMilliseconds = collisionMilliseconds): Promise<Claim> {
  const folder = dirname(resolve(file))
  const prefix = await prefixOf(file)
  const deadline = performance.now() + waitMilliseconds
  try {
    for (;;) {
      const claimed = await tryToClaim(folder, prefix, deadline)
      if (!(claimed instanceof FileClaimedError)) return claimed
      if (performance.now() >= deadline) throw claimed
      await pause()
    }
  } catch (error) {
    if (error instanceof FileClaimedError) throw error
    throw new NoClaimError(folder, reasonOf(error))
  }
}

async function pause(): Promise<void> {
  const { least, most } = pauseMilliseconds
  await setTimeout(least + Math.random() * (most - least))
}

/** Returns what the names of all claims to a file start with; its length does not depend on the file's name. */
async function prefixOf(file: string): Promise<string> {
  const hash = await sha256(basename(file))
  return `.claim-${hash.slice(0, 12)}-`
}

/** Ends the names of files that are no claims yet, or no longer. */
const unfinished = { made: '.new', ended: '.ended' } as const

async function tryToClaim(
  folder: string,
  prefix: string,
  deadline: number,
): Promise<Claim | FileClaimedError> {
  const own = await makeClaim(folder, prefix)
  try {
    for (;;) {
      const others = await findOthers(folder, prefix, own)
      const [first] = others
      if (first === undefined) return new HeldClaim(own)
      if (first.name < own.name || performance.now() >= deadline) {
        await rm(own.path, { force: true })
        return refusalOf(first, own)
      }
      await pause()
    }
  } catch (error) {
    await rm(own.path, { force: true })
    throw error
  }
}

/** The claim of this process. */
interface OwnClaim {
  name: string
  path: string
  content: string
  /** When the claim was made: the file system's time and this process's, in milliseconds. */
  madeAt: { file: number; process: number }
}

/** Makes a claim, which other processes see once it is complete. */
async function makeClaim(folder: string, prefix: string): Promise<OwnClaim> {
  const id = Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex')
  const name = `${prefix}${id}`
  const path = join(folder, name)
  const content = `${JSON.stringify({ id, ...thisProcess })}\n`
  const fresh = `${path}${unfinished.made}`
  try {
    const writtenAt = await writeNewFile(fresh, content)
    const madeAt = { file: writtenAt, process: performance.now() }
    await rename(fresh, path)
    return { name, path, content, madeAt }
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {})
    throw error
  }
}

/** Writes a file to disk, and returns its time, in milliseconds. */
async function writeNewFile(path: string, content: string): Promise<number> {
  const file = await open(path, 'wx')
  try {
    await file.writeFile(content)
    await file.sync()
    return (await file.stat()).mtimeMs
  } finally {
    await file.close()
  }
}

/** Another process's claim, as it was read. */
interface FoundClaim {
  name: string
  path: string
  /** Null if the claim cannot be read. */
  holder: ProcessIdentity | null
  renewedAt: number
}

/** Returns the other claims that are alive, ordered by name, and removes those that have ended. */
async function findOthers(folder: string, prefix: string, own: OwnClaim): Promise<FoundClaim[]> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix))
  if (!names.includes(own.name)) throw new Error('a file that was just made in it is not there')
  const living: FoundClaim[] = []
  for (const name of names.toSorted()) {
    if (name === own.name) continue
    const path = join(folder, name)
    const found = await readClaim(name, path)
    if (found === null) continue
    if (name.endsWith(unfinished.made)) {
      if (!isRenewed(found, own)) await rm(path, { force: true })
    } else if (name.endsWith(unfinished.ended)) {
      // It was renewed just before it was moved, so whoever moved it is about to put it back.
      if (isAlive(found, own)) living.push(found)
      else await rm(path, { force: true })
    } else if (isAlive(found, own) || !(await end(found))) living.push(found)
  }
  return living
}

/** Reads a claim; null if it is gone. */
async function readClaim(name: string, path: string): Promise<FoundClaim | null> {
  try {
    const file = await open(path, 'r')
    try {
      const { mtimeMs } = await file.stat()
      return { name, path, holder: parseHolder(await file.readFile('utf8')), renewedAt: mtimeMs }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

function parseHolder(text: string): ProcessIdentity | null {
  try {
    const { host, process, place, start } = JSON.parse(text)
    const isWhole = typeof host === 'string' && Number.isSafeInteger(process) && typeof place === 'string'
    return isWhole ? { host, process, place, start: typeof start === 'string' ? start : null } : null
  } catch {
    return null
  }
}

function isAlive(found: FoundClaim, own: OwnClaim): boolean {
  const state = found.holder === null ? 'unknown' : stateOf(found.holder)
  return state === 'unknown' ? isRenewed(found, own) : state === 'running'
}

/** The age of a claim in milliseconds; negative if the file system's clock was set back. */
function ageOf({ renewedAt }: FoundClaim, { madeAt }: OwnClaim): number {
  return madeAt.file + performance.now() - madeAt.process - renewedAt
}

function isRenewed(found: FoundClaim, own: OwnClaim): boolean {
  return Math.abs(ageOf(found, own)) < lifetimeMilliseconds
}

/**
 * Ends a claim, and returns true, unless it was renewed in the meantime. Network file systems remember a file's time for
 * a while, but not under a new name.
 */
async function end({ name, path, renewedAt }: FoundClaim): Promise<boolean> {
  const aside = `${path}${unfinished.ended}`
  try {
    await rename(path, aside)
    const moved = await readClaim(name, aside)
    if (moved !== null && moved.renewedAt !== renewedAt) {
      await rename(aside, path)
      return false
    }
    await rm(aside, { force: true })
  } catch (error) {
    if (!isGone(error)) throw error
  }
  return true
}

function refusalOf(found: FoundClaim, own: OwnClaim): FileClaimedError {
  const endsWithProcess = found.holder !== null && stateOf(found.holder) === 'running'
  const left = Math.max(1, Math.ceil((lifetimeMilliseconds - ageOf(found, own)) / 1000))
  return new FileClaimedError(found.holder, endsWithProcess ? null : left)
}

/** True if a file is gone. A network file system reports a file that another host removed as stale. */
function isGone(error: unknown): boolean {
  return isMissingFile(error) || (error as NodeJS.ErrnoException).code === 'ESTALE'
}

class HeldClaim implements Claim {
  private readonly losing = new AbortController()
  private readonly timer: NodeJS.Timeout
  private renewed = readClocks()

  constructor(private readonly own: OwnClaim) {
    this.timer = setInterval(() => this.renewOrLose(), renewalMilliseconds)
    this.timer.unref()
  }

  get lost(): AbortSignal {
    return this.losing.signal
  }

  require(): void {
    this.lost.throwIfAborted()
    try {
      if (this.isOverdue()) this.renew()
      this.check()
    } catch (error) {
      if (error instanceof ClaimLostError) this.losing.abort(error)
      throw error
    }
  }

  async release(): Promise<void> {
    clearInterval(this.timer)
    await rm(this.own.path, { force: true })
  }

  private renewOrLose(): void {
    try {
      this.renew()
    } catch (error) {
      // Any other error may pass. If it does not, the next step fails, or the claim ends and is lost.
      if (error instanceof ClaimLostError) this.losing.abort(error)
    }
  }

  /** The time while a machine is suspended is missing on one clock, and the other one may be set. */
  private isOverdue(): boolean {
    const now = readClocks()
    const passed = Math.max(now.steady - this.renewed.steady, Math.abs(now.wall - this.renewed.wall))
    return passed >= 2 * renewalMilliseconds
  }

  private renew(): void {
    this.check()
    this.use(() => {
      const descriptor = openSync(this.own.path, 'r+')
      try {
        writeSync(descriptor, this.own.content, 0)
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
    })
    this.renewed = readClocks()
  }

  /** @throws ClaimLostError if the claim is gone, or not this process's */
  private check(): void {
    const content = this.use(() => readFileSync(this.own.path, 'utf8'))
    if (content !== this.own.content) throw new ClaimLostError('The claim was replaced')
  }

  private use<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (isGone(error)) throw new ClaimLostError('The claim was removed', { cause: error })
      throw new NoClaimError(dirname(this.own.path), reasonOf(error))
    }
  }
}

function readClocks(): { steady: number; wall: number } {
  return { steady: performance.now(), wall: Date.now() }
}
