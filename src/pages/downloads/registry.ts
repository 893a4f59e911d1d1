import type { Published } from './releases.ts'

/** The name space of both packages. */
const space = '@partner-interface'

/**
 * The time that npm's own archives use. Package managers hold back versions that are younger than a day or have no
 * date (decisions §30).
 */
const constantTime = '1985-10-26T08:15:00.000Z'

/** A package manager's request for a package's metadata or for one of its archives. */
export interface RegistryRequest {
  /** Name of the package without its name space. */
  name: string
  /** File name of the archive; undefined for the metadata. */
  archive: string | undefined
}

const address = new RegExp(`^/+npm/(?:@|%40)${space.slice(1)}(?:/|%2f)([a-z]+)(?:/-/([^/]+\\.tgz))?/?$`, 'i')

/**
 * Parses an address below `/npm/`. The slash of the package's name may be encoded, as pnpm and Yarn do; repeated
 * slashes before `npm` count as one, because `PUBLIC_URL` may end in a slash.
 *
 * @returns null if it is not the address of one of this registry's packages
 */
export function parseRegistryPath(path: string): RegistryRequest | null {
  const match = address.exec(path)
  return match?.[1] === undefined ? null : { name: match[1], archive: match[2] }
}

/** Returns the version in an archive's file name; undefined if it is not the name of one of the package's archives. */
export function versionIn(archive: string, name: string): string | undefined {
  const [, version] = /^-(\d+\.\d+\.\d+(?:-[\da-z.-]{1,64})?)\.tgz$/i.exec(archive.slice(name.length)) ?? []
  return archive.startsWith(name) ? version : undefined
}

/**
 * Returns the metadata of a package, as a read-only npm registry describes it.
 *
 * @param name the package's name without its name space
 * @param publicUrl the service's address. npm refuses an archive whose origin differs from the registry's.
 */
export function metadataOf(name: string, { versions, latest }: Published, publicUrl: string): object {
  const fullName = `${space}/${name}`
  const described: Record<string, object> = {}
  const time: Record<string, string> = { created: constantTime, modified: constantTime }
  for (const { version, packages } of versions) {
    const published = packages.find((one) => one.name === name)
    if (!published) continue
    const dist = {
      tarball: `${publicUrl}/npm/${fullName}/-/${name}-${version}.tgz`,
      integrity: published.integrity,
      shasum: published.shasum,
    }
    described[version] = { ...JSON.parse(published.manifest), _id: `${fullName}@${version}`, dist }
    time[version] = constantTime
  }
  return {
    name: fullName,
    'dist-tags': { latest: latest.version },
    versions: described,
    time,
  }
}
