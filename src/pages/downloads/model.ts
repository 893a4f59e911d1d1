import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const describedFields = {
  /** Name of the package without its name space. */
  name: field.text,
  /** The manifest as JSON, because its keys contain dots. */
  manifest: field.text,
  /** Checksums of the archive, in the forms that package managers expect. */
  integrity: field.text,
  shasum: field.text,
}
const packageFields = {
  ...describedFields,
  /** The archive, at most 4 MiB. */
  archive: field.bytes,
}

const releaseFields = {
  /** The version. */
  _id: field.text,
  /** Checksums of the command line and of the archives, as `sha256sum` prints them. */
  checksums: field.text,
  packages: field.listOf(packageFields),
}

/** A package of one version, without its archive. */
export type PublishedPackage = Stored<typeof describedFields>

/** A released version of the packages. */
export type PackageRelease = Stored<typeof releaseFields>

/**
 * The released versions of what partners install (decisions §30). Without them, every release would break the lock
 * files that partners have made with an earlier one.
 */
export const packageReleaseModel = modelOf('package_releases', schemaOf(releaseFields))
