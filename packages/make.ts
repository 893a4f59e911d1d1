import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import packageJson from '../package.json' with { type: 'json' }
import { type PackageFiles, packArchive } from './archive.ts'
import { buildClient, clientManifest, compileClient } from './client.ts'
import { buildPartnerctl, bundlePartnerctl, partnerctlManifest } from './partnerctl.ts'
import { type Checksums, developmentVersion, isSame } from './version.ts'

/** The checksums of every released version, which partners' lock files contain. */
export const releasedFile = new URL('released.json', import.meta.url)

/** What partners install (decisions §30), under one version. */
export interface Made {
  version: string
  manifests: { client: object; partnerctl: object }
  /** The command line as one file, and both archives, by file name. */
  files: Map<string, Uint8Array | string>
  checksums: Checksums
}

/** An archive is stored in the database together with the other one, in a document of at most 16 MiB. */
const maxArchiveBytes = 4 * 2 ** 20

/** Reads the checksums of the released versions. */
export async function readReleased(): Promise<Record<string, Checksums | undefined>> {
  return JSON.parse(await readFile(releasedFile, 'utf8'))
}

/**
 * Makes the packages. Their version is the plain one of `package.json` if `released.json` has exactly these checksums;
 * otherwise, it is the one that {@link developmentVersion} returns.
 */
export async function makePackages(): Promise<Made> {
  const compiled = await compileClient()
  const plain = await make(compiled, packageJson.version)
  const released = (await readReleased())[packageJson.version]
  if (released && isSame(plain.checksums, released)) return plain
  return make(compiled, developmentVersion(packageJson.version, plain.checksums))
}

/** Makes the packages as they are once their version is released. */
export async function makeRelease(): Promise<Made> {
  return make(await compileClient(), packageJson.version)
}

async function make(compiled: PackageFiles, version: string): Promise<Made> {
  const bundle = await bundlePartnerctl(version)
  const client = await packArchive(await buildClient(compiled, version))
  const partnerctl = await packArchive(await buildPartnerctl(bundle, version))
  const files = new Map<string, Uint8Array | string>()
  files.set('partnerctl.mjs', bundle)
  files.set(`client-${version}.tgz`, client)
  files.set(`partnerctl-${version}.tgz`, partnerctl)
  for (const archive of [client, partnerctl])
    if (archive.length > maxArchiveBytes)
      throw new Error(`An archive is larger than ${maxArchiveBytes} bytes`)
  const checksums: Checksums = {}
  for (const [name, content] of files) checksums[name] = createHash('sha256').update(content).digest('hex')
  const manifests = {
    client: clientManifest(version),
    partnerctl: partnerctlManifest(version),
  }
  return { version, manifests, files, checksums }
}
