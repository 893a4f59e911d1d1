import { createHash } from 'node:crypto'
import type { AppContext } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { type Downloads, loadDownloads, versionToRelease } from './files.ts'
import type { PackageRelease, PublishedPackage } from './model.ts'
import { addRelease, isStored, keptReleases, listReleases, type PublishedVersion } from './store.ts'

/** The versions that a process serves (decisions §30). */
export interface Published {
  /** Lowest first, this process's own among them. */
  versions: PublishedVersion[]
  /** The highest stored release; this process's own version if nothing is released. */
  latest: PublishedVersion
}

/**
 * Stores this build's release if it is missing, so that its versions are served after the service has gone on to
 * another one, even if no partner asks this process for a package. A failure is logged, and the next request for a
 * package tries again.
 */
export async function storeOwnRelease({ db, log }: Pick<AppContext, 'db' | 'log'>): Promise<void> {
  try {
    const version = await versionToRelease()
    if (version === null || (await isStored(db, version))) return
    const own = await loadDownloads()
    if (own.isRelease) await addRelease(db, toRelease(own))
  } catch (error) {
    log.error({ err: error }, 'The packages of this release could not be stored')
  }
}

/** Returns what is stored, together with this process's own build. Stores the build first if it is a missing release. */
export async function loadPublished(db: Db, own: Downloads): Promise<Published> {
  let stored = await listReleases(db)
  if (own.isRelease && isWorthStoring(own.version, stored)) {
    await addRelease(db, toRelease(own))
    stored = await listReleases(db)
  }
  return publish(stored, describe(own))
}

/** Returns false if a release is stored, or if it is older than all that are kept. */
function isWorthStoring(version: string, stored: PublishedVersion[]): boolean {
  if (stored.some((release) => release.version === version)) return false
  const [lowest] = stored
  if (!lowest || stored.length < keptReleases) return true
  return Bun.semver.order(version, lowest.version) > 0
}

function publish(stored: PublishedVersion[], own: PublishedVersion): Published {
  const latest = stored.at(-1) ?? own
  if (stored.some(({ version }) => version === own.version)) return { versions: stored, latest }
  const versions = [...stored, own]
  versions.sort((one, other) => Bun.semver.order(one.version, other.version))
  return { versions, latest }
}

function toRelease({ version, checksums, packages }: Downloads): PackageRelease {
  return {
    _id: version,
    checksums,
    packages: packages.map((one) => ({ ...describePackage(one), archive: Buffer.from(one.archive) })),
  }
}

/** Returns what this build publishes, without the archives. */
function describe({ version, checksums, packages }: Downloads): PublishedVersion {
  return { version, checksums, packages: packages.map(describePackage) }
}

function describePackage({ name, manifest, archive }: Downloads['packages'][number]): PublishedPackage {
  return {
    name,
    manifest: JSON.stringify(manifest),
    integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
    shasum: createHash('sha1').update(archive).digest('hex'),
  }
}
