import type { Published } from './releases.ts'

/** The name space of both packages. */
const space = '@partner-interface'

/**
 * The time that npm's own archives use. Package managers hold back versions that are younger than a day or have no
 * date (decisions §30).
 */
const constantTime = '1985-10-26T08:15:00.000Z'

/** A package manager's request for a package's metadata, for one of its versions or for an archive. */
export interface RegistryRequest {
  /** Name of the package without its name space. */
  name: string
  /** A version or `latest`, of which pnpm asks for the manifest alone; undefined otherwise. */
  version: string | undefined
  /** File name of the archive; undefined otherwise. */
  archive: string | undefined
}

const address = new RegExp(
  `^/+npm/(?:@|%40)${space.slice(1)}(?:/|%2f)([a-z]+)(?:/-/([^/]+\\.tgz)|/([^/-][^/]*))?/?$`,
  'i',
)

/**
 * Parses an address below `/npm/`. The slash of the package's name may be encoded, as pnpm and Yarn do; repeated
 * slashes before `npm` count as one, because `PUBLIC_URL` may end in a slash.
 *
 * @returns null if it is not the address of one of this registry's packages
 */
export function parseRegistryPath(path: string): RegistryRequest | null {
  const match = address.exec(path)
  if (match?.[1] === undefined) return null
  return { name: match[1], archive: match[2], version: match[3] }
}

/** Returns the version in an archive's file name; undefined if it is not the name of one of the package's archives. */
export function versionIn(archive: string, name: string): string | undefined {
  const [, version] = /^-(\d+\.\d+\.\d+(?:-[\da-z.-]{1,64})?)\.tgz$/i.exec(archive.slice(name.length)) ?? []
  return archive.startsWith(name) ? version : undefined
}

/**
 * Returns what a read-only npm registry says about a package: the metadata under the package's name, and the manifest
 * of each version under the name, a slash, and the version or `latest`.
 *
 * @param name the package's name without its name space
 * @param publicUrl the service's address. npm refuses an archive whose origin differs from the registry's.
 */
export function documentsOf(
  name: string,
  { versions, latest }: Published,
  publicUrl: string,
): Map<string, object> {
  const fullName = `${space}/${name}`
  const manifests: Record<string, object> = {}
  const time: Record<string, string> = { created: constantTime, modified: constantTime }
  const documents = new Map<string, object>()
  for (const { version, packages } of versions) {
    const published = packages.find((one) => one.name === name)
    if (!published) continue
    const dist = {
      tarball: `${publicUrl}/npm/${fullName}/-/${name}-${version}.tgz`,
      integrity: published.integrity,
      shasum: published.shasum,
    }
    const manifest = { ...JSON.parse(published.manifest), _id: `${fullName}@${version}`, dist }
    manifests[version] = manifest
    time[version] = constantTime
    documents.set(`${name}/${version}`, manifest)
    if (version === latest.version) documents.set(`${name}/latest`, manifest)
  }
  documents.set(name, {
    name: fullName,
    'dist-tags': { latest: latest.version },
    versions: manifests,
    time,
  })
  return documents
}
