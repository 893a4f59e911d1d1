import type { Db } from '../../platform/mongo/connection.ts'
import { isDuplicate } from '../../platform/mongo/errors.ts'
import { type PackageRelease, type PublishedPackage, packageReleaseModel } from './model.ts'

/** Number of released versions whose archives are kept. */
export const keptReleases = 20

/** A version of the packages, without the archives. */
export interface PublishedVersion {
  version: string
  /** Checksums of the command line and of the archives, as `sha256sum` prints them. */
  checksums: string
  packages: PublishedPackage[]
}

/** Returns the released versions that are stored, the lowest first. */
export async function listReleases(db: Db): Promise<PublishedVersion[]> {
  const { collection } = packageReleaseModel(db)
  const found = collection.find<Omit<PackageRelease, 'packages'> & { packages: PublishedPackage[] }>(
    {},
    { projection: { 'packages.archive': 0 } },
  )
  const releases = await found.toArray()
  return releases
    .map(({ _id, checksums, packages }) => ({ version: _id, checksums, packages }))
    .toSorted((one, other) => Bun.semver.order(one.version, other.version))
}

/** Returns the archive of a package in a released version; undefined if it is not stored. */
export async function findArchive(
  db: Db,
  version: string,
  name: string,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { collection } = packageReleaseModel(db)
  const release = await collection.findOne<Pick<PackageRelease, 'packages'>>(
    { _id: version, 'packages.name': name },
    { projection: { 'packages.$': 1 }, promoteBuffers: true },
  )
  const archive = release?.packages[0]?.archive
  return archive && new Uint8Array(archive)
}

/** Returns true if the released version is stored. */
export async function isStored(db: Db, version: string): Promise<boolean> {
  const found = await packageReleaseModel(db).collection.findOne({ _id: version }, { projection: { _id: 1 } })
  return found !== null
}

/**
 * Stores a released version unless it is stored already, and removes the lowest versions beyond the last
 * {@link keptReleases}.
 */
export async function addRelease(db: Db, release: PackageRelease): Promise<void> {
  const { collection } = packageReleaseModel(db)
  await collection.insertOne(release).catch((error) => {
    // Another process of the same release was faster.
    if (!isDuplicate(error)) throw error
  })
  const rows = await collection.find({}, { projection: { _id: 1 } }).toArray()
  const versions = rows.map(({ _id }) => _id).toSorted(Bun.semver.order)
  const surplus = versions.slice(0, -keptReleases)
  if (surplus.length > 0) await collection.deleteMany({ _id: { $in: surplus } })
}
