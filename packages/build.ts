import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { makePackages } from './make.ts'
import { linesOf } from './version.ts'

/**
 * Makes what partners install (decisions §30): `bin/bun packages/build.ts <folder>` writes the archives of both
 * packages, their manifests, the command line as one file, and the checksums. The image's build runs it, because the
 * image lacks the tools; in a checkout, the service runs it at the first request.
 *
 * The bytes depend on the sources alone, so every process serves the same checksums. So does the version: it is the
 * plain one of `package.json` only if `released.json` has the checksums of exactly these bytes. Any other build has
 * `<version>-dev.<digits>`, where the digits are the first 8 of the SHA-256 of the `SHA256SUMS` that it has under its
 * plain version ({@link developmentVersion}).
 */
const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('Name the folder to write to')
const { version, manifests, files, checksums } = await makePackages()
files.set('SHA256SUMS', linesOf(checksums))
files.set('client.json', JSON.stringify(manifests.client))
files.set('partnerctl.json', JSON.stringify(manifests.partnerctl))
await mkdir(folder, { recursive: true })
for (const [name, content] of files) await writeFile(join(folder, name), content)
const kind = version === packageJson.version ? 'a release' : 'not a release: packages/released.json lacks it'
console.log(`The packages have version ${version}, ${kind}`)
