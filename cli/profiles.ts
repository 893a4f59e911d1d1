import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from './errors.ts'

/** An address, a key and an environment, stored under a name. */
export interface Profile {
  base_url: string
  key: string
  sandbox: boolean
}

interface Profiles {
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
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback)) return
  throw new UsageError(
    `"${address}" must begin with https:// or be on this machine: a stored key is sent there`,
  )
}

/** Reads all profiles of this user. */
export async function readProfiles(): Promise<Profiles> {
  const text = await readFile(file(), 'utf8').catch(() => undefined)
  if (text === undefined) return { current: null, profiles: {} }
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`"${file()}" is not a profiles file; remove it and log in again`)
  }
}

/** Stores the profiles in a file that only this user can read. */
export async function writeProfiles(profiles: Profiles): Promise<void> {
  await mkdir(dirname(file()), { recursive: true, mode: 0o700 })
  const fresh = `${file()}.new`
  await writeFile(fresh, JSON.stringify(profiles, null, 2), { mode: 0o600 })
  await chmod(fresh, 0o600)
  await rename(fresh, file())
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
  const profile = profiles[wanted]
  if (!profile && name !== undefined) {
    throw new UsageError(
      `There is no profile "${name}"; the profiles are ${Object.keys(profiles).join(', ') || 'none'}`,
    )
  }
  return profile && { ...profile, name: wanted }
}
