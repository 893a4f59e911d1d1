import { writeFile } from 'node:fs/promises'
import { makeRelease, readReleased, releasedFile } from './make.ts'
import { isSame } from './version.ts'

/**
 * Releases the packages in the version of `package.json` (decisions §30): adds their checksums to `released.json`. From
 * then on, a build of the same sources is the release.
 *
 * Refuses other content for a version that is released already, because the lock files of partners' projects contain
 * its checksum.
 */
const { version, checksums } = await makeRelease()
const released = await readReleased()
const known = released[version]
if (known && !isSame(checksums, known)) {
  console.error(`Version ${version} was released with other content: raise the version`)
  process.exit(1)
}
released[version] = checksums
await writeFile(releasedFile, `${JSON.stringify(released, null, 2)}\n`)
console.log(`packages/released.json has version ${version}`)
