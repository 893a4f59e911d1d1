import { createHash } from 'node:crypto'
import type { PackageDownload } from './files.ts'

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

/**
 * Returns the metadata of a package, as a read-only npm registry describes it.
 *
 * @param publicUrl the service's address. npm refuses an archive whose origin differs from the registry's.
 */
export function metadataOf({ manifest, file, archive }: PackageDownload, publicUrl: string): object {
  const { version } = manifest
  const dist = {
    tarball: `${publicUrl}/npm/${manifest.name}/-/${file}`,
    integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
    shasum: createHash('sha1').update(archive).digest('hex'),
  }
  return {
    name: manifest.name,
    'dist-tags': { latest: version },
    versions: { [version]: { ...manifest, _id: `${manifest.name}@${version}`, dist } },
    time: { created: constantTime, modified: constantTime, [version]: constantTime },
  }
}
