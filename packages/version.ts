import { createHash } from 'node:crypto'

/** SHA-256 checksums of what a build makes, by file name. */
export type Checksums = Record<string, string>

/** Returns checksums in the format of `sha256sum`. */
export function linesOf(checksums: Checksums): string {
  return Object.entries(checksums)
    .map(([name, checksum]) => `${checksum}  ${name}\n`)
    .join('')
}

/** True if both have the same files with the same content. */
export function isSame(made: Checksums, known: Checksums): boolean {
  const names = Object.keys(made)
  return names.length === Object.keys(known).length && names.every((name) => made[name] === known[name])
}

/**
 * Returns the version of a build that is not a release, such as `1.0.0-dev.0f3a91c2` (decisions §30). Otherwise, two
 * builds could share a version, and a lock file that was made with one of them would refuse the other.
 *
 * The digits are the first 8 of the build's checksum: the SHA-256 of the `SHA256SUMS` that the build has under its plain
 * version. Digits that form a number with a leading zero are skipped, because SemVer forbids such numbers.
 *
 * @param plain the checksums of the build under its plain version
 */
export function developmentVersion(version: string, plain: Checksums): string {
  const checksum = createHash('sha256').update(linesOf(plain)).digest('hex')
  return `${version}-dev.${identifierIn(checksum)}`
}

/** Returns the first 8 digits of a hexadecimal checksum that SemVer allows as an identifier. */
export function identifierIn(checksum: string): string {
  const [digits] = /(?!0\d{7})[\da-f]{8}/.exec(checksum) ?? []
  if (digits === undefined) throw new Error('The checksum has no 8 digits that SemVer allows')
  return digits
}
