import { mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UsageError } from '../shared/errors.ts'
import { isMissingFile, reasonOf } from '../shared/file-errors.ts'
import { decodeText } from '../shared/utf8.ts'
import { claimFile, describeHolder, FileClaimedError, NoClaimError } from './file-claim.ts'
import { configFolder } from './folders.ts'
import { isLoopback } from './proxy.ts'

/** An address, a key and an environment, stored under a name. */
export interface Profile {
  base_url: string
  key: string
  sandbox: boolean
}

/** All profiles of a user; `current` names the one that commands use without `--profile`. */
export interface Profiles {
  current: string | null
  profiles: Record<string, Profile>
}

/** Returns the path of the file; undefined if the user has no folder for it. */
function findFile(): string | undefined {
  const folder = configFolder()
  return folder && join(folder, 'profiles.json')
}

/**
 * Returns the path of the file.
 *
 * @throws Error if the user has no folder for it
 */
export function requireProfilesFile(): string {
  const file = findFile()
  if (file === undefined)
    throw new Error(
      'There is no home folder to keep profiles in: set HOME or XDG_CONFIG_HOME to an absolute path',
    )
  return file
}

/**
 * Requires an address to which a stored key may be sent: one that uses `https` or is on this machine.
 *
 * @throws UsageError for any other address
 */
export function requireSafeAddress(address: string): void {
  if (!URL.canParse(address)) throw new UsageError(`"${address}" is not a valid address`)
  const { protocol, hostname } = new URL(address)
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return
  throw new UsageError(
    `"${address}" must begin with https:// or be on this machine: a stored key is sent there`,
  )
}

/**
 * Reads all profiles of this user; none if there is no file, or no folder for it.
 *
 * @throws Error for a file that cannot be read or is not a profiles file. It must not count as empty, because the next
 * login would replace it.
 */
export async function readProfiles(): Promise<Profiles> {
  const path = findFile()
  if (path === undefined) return noProfiles
  const bytes = await readFile(path).catch((error) => {
    if (isMissingFile(error)) return undefined
    throw new Error(`Cannot read the profiles in "${path}": ${reasonOf(error)}`)
  })
  if (bytes === undefined) return noProfiles
  const found = parseJson(decodeText(bytes, `"${path}"`))
  if (!isProfiles(found)) throw new Error(`"${path}" is not a profiles file; move it away, then log in again`)
  return found
}

const noProfiles: Profiles = { current: null, profiles: {} }

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isProfiles(value: unknown): value is Profiles {
  const { current, profiles } = (value ?? {}) as Partial<Profiles>
  const isNamed = current === null || typeof current === 'string'
  return isNamed && isRecord(profiles) && Object.values(profiles).every(isProfile)
}

function isProfile(value: unknown): value is Profile {
  const { base_url, key, sandbox } = (value ?? {}) as Partial<Profile>
  return typeof base_url === 'string' && typeof key === 'string' && typeof sandbox === 'boolean'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Maximum time that a change waits for other processes' changes, in milliseconds. Each of those takes a few. */
const claimMilliseconds = 10_000

/**
 * Replaces the profiles with the result of `change`, in a file that only this user can read. Claims the file meanwhile,
 * so that no other process's change is lost.
 *
 * @returns the new profiles
 * @throws Error that names the file, if it cannot be read or written; nothing is changed then
 */
export async function changeProfiles(change: (profiles: Profiles) => Profiles): Promise<Profiles> {
  const path = await target(requireProfilesFile())
  const cannotWrite = (error: unknown): never => {
    if (error instanceof FileClaimedError) throw new Error(explainClaimed(path, error))
    if (error instanceof NoClaimError)
      throw new Error(`Cannot write the profiles in "${path}": ${error.reason}`)
    throw new Error(`Cannot write the profiles in "${path}": ${reasonOf(error)}`)
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(cannotWrite)
  const claim = await claimFile(path, claimMilliseconds).catch(cannotWrite)
  try {
    const changed = change(await readProfiles())
    claim.require()
    await replaceFile(path, JSON.stringify(changed, null, 2)).catch(cannotWrite)
    return changed
  } finally {
    await claim.release()
  }
}

function explainClaimed(path: string, { holder, endsInSeconds }: FileClaimedError): string {
  const when = endsInSeconds === null ? 'try again' : `try again in ${endsInSeconds} s`
  return `Another command (${describeHolder(holder)}) is changing the profiles in "${path}"; ${when}`
}

/**
 * Returns the file that a symbolic link leads to. Otherwise, the link would be replaced, and its file would go stale.
 */
async function target(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (isMissingFile(error)) return path
    throw new Error(`Cannot read the profiles in "${path}": ${reasonOf(error)}`)
  }
}

/**
 * Writes a file that only this user can read; after a kill or a power failure, it has either its old or its new
 * content.
 */
async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`
  // A killed process may have left the file with other permissions.
  await rm(fresh, { force: true })
  const file = await open(fresh, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(fresh, path)
}

/**
 * Finds the profile with this name or, without a name, the current profile if there is one.
 *
 * @throws UsageError for an unknown name
 */
export async function findProfile(
  name: string | undefined,
): Promise<(Profile & { name: string }) | undefined> {
  const { current, profiles } = await readProfiles()
  const wanted = name ?? current ?? undefined
  if (wanted === undefined) return undefined
  const profile = Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined
  if (!profile && name !== undefined) {
    requireProfilesFile()
    throw new UsageError(
      `There is no profile "${name}"; the profiles are ${Object.keys(profiles).join(', ') || 'none'}`,
    )
  }
  return profile && { ...profile, name: wanted }
}
