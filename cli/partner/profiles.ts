import { mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '../shared/errors.ts'
import { isMissingFile, reasonOf } from '../shared/file-errors.ts'
import { FileLockedError, lockFile } from './file-lock.ts'
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

function file(): string {
  const base = process.env.XDG_CONFIG_HOME || join(homedir(), '.config')
  return join(base, 'partnerctl', 'profiles.json')
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
 * Reads all profiles of this user; none if there is no file.
 *
 * @throws Error for a file that cannot be read or is not a profiles file. It must not count as empty, because the next
 * login would replace it.
 */
export async function readProfiles(): Promise<Profiles> {
  const path = file()
  const text = await readFile(path, 'utf8').catch((error) => {
    if (isMissingFile(error)) return undefined
    throw new Error(`Cannot read the profiles in "${path}": ${reasonOf(error)}`)
  })
  if (text === undefined) return { current: null, profiles: {} }
  const found = parseJson(text)
  if (!isProfiles(found)) throw new Error(`"${path}" is not a profiles file; move it away, then log in again`)
  return found
}

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
const lockMilliseconds = 10_000

/**
 * Replaces the profiles with the result of `change`, in a file that only this user can read. Locks the file meanwhile,
 * so that no other process's change is lost.
 *
 * @returns the new profiles
 * @throws Error that names the file, if it cannot be read or written; nothing is changed then
 */
export async function changeProfiles(change: (profiles: Profiles) => Profiles): Promise<Profiles> {
  const path = await target(file())
  const cannotWrite = (error: unknown): never => {
    if (error instanceof FileLockedError)
      throw new Error(`Process ${error.holder} is changing the profiles in "${path}"; try again`)
    throw new Error(`Cannot write the profiles in "${path}": ${reasonOf(error)}`)
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(cannotWrite)
  const unlock = await lockFile(path, lockMilliseconds).catch(cannotWrite)
  try {
    const changed = change(await readProfiles())
    await replaceFile(path, JSON.stringify(changed, null, 2)).catch(cannotWrite)
    return changed
  } finally {
    await unlock()
  }
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
    throw new UsageError(
      `There is no profile "${name}"; the profiles are ${Object.keys(profiles).join(', ') || 'none'}`,
    )
  }
  return profile && { ...profile, name: wanted }
}
