import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { packArchive } from './archive.ts'
import { buildClient, clientManifest } from './client.ts'
import { buildPartnerctl, bundlePartnerctl, partnerctlManifest } from './partnerctl.ts'

/**
 * Makes what partners install (decisions §30): `bin/bun packages/build.ts <folder>` writes the archives of both
 * packages, their manifests, the command line as one file, and the checksums. The image's build runs it, because the
 * image lacks the tools; in a checkout, the service runs it at the first request.
 *
 * The bytes depend on the sources alone, so every process serves the same checksums.
 */
const { version } = packageJson
const checksums: Record<string, string> = {}
const files = new Map<string, Uint8Array | string>()

function add(name: string, content: Uint8Array | string): void {
  files.set(name, content)
  checksums[name] = createHash('sha256').update(content).digest('hex')
}

const [client, bundle] = await Promise.all([buildClient(), bundlePartnerctl()])
add('partnerctl.mjs', bundle)
add(`client-${version}.tgz`, await packArchive(client))
add(`partnerctl-${version}.tgz`, await packArchive(await buildPartnerctl(bundle)))
requireUnchanged(checksums, JSON.parse(await readFile(new URL('released.json', import.meta.url), 'utf8')))
const lines = Object.entries(checksums).map(([name, checksum]) => `${checksum}  ${name}\n`)
files.set('SHA256SUMS', lines.join(''))
files.set('client.json', JSON.stringify(clientManifest))
files.set('partnerctl.json', JSON.stringify(partnerctlManifest))

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('Name the folder to write to')
await mkdir(folder, { recursive: true })
for (const [name, content] of files) await writeFile(join(folder, name), content)

/**
 * Refuses to make a released version with other content. Package managers keep a version's checksum in the lock files
 * of partners' projects, and would refuse the service's own package.
 *
 * @param released the checksums of each released version
 */
function requireUnchanged(
  made: Record<string, string>,
  released: Record<string, Record<string, string> | undefined>,
): void {
  const known = released[version]
  if (!known) return
  const changed = Object.keys(made).filter((name) => known[name] !== made[name])
  if (changed.length > 0)
    throw new Error(`${changed.join(', ')} changed since version ${version} was released: raise the version`)
}
