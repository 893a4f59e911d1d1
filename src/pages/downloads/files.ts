import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageJson from '../../../package.json' with { type: 'json' }
import { isMissingFile } from '../../core/file-errors.ts'
import { cacheFor } from '../../platform/time-limits.ts'

/**
 * Folder of the files that partners download. The image's build fills it, because the image lacks the tools to do so.
 */
export const downloadsFolder = fileURLToPath(new URL('../../../downloads/', import.meta.url))

const builder = fileURLToPath(new URL('../../../packages/build.ts', import.meta.url))
const releasedFile = new URL('../../../packages/released.json', import.meta.url)

/** The files that partners install (decisions §30), as `packages/build.ts` makes them. */
export interface Downloads {
  version: string
  /** False for a build that `packages/released.json` does not list; its version then ends in `-dev.<digits>`. */
  isRelease: boolean
  packages: PackageDownload[]
  /** The command line as one file. */
  commandLine: Uint8Array<ArrayBuffer>
  /** Checksums of the command line and the archives, as `sha256sum` prints them. */
  checksums: string
}

export interface PackageDownload {
  /** Name of the package without its name space. */
  name: (typeof packageNames)[number]
  manifest: Manifest
  archive: Uint8Array<ArrayBuffer>
}

/** The manifest of a package, as far as the service reads it. */
interface Manifest {
  name: string
  version: string
}

const packageNames = ['client', 'partnerctl'] as const

/** Loads the files that the image's build has made. In a checkout, makes them once, in a process of their own. */
export const loadDownloads = cacheFor(Number.POSITIVE_INFINITY, async (): Promise<Downloads> => {
  const made = await readIfAny(readDownloads(downloadsFolder))
  if (made) return made
  const folder = await mkdtemp(join(tmpdir(), 'partner-packages-'))
  try {
    const { exitCode, stderr } = await Bun.$`${process.execPath} ${builder} ${folder}`.quiet().nothrow()
    if (exitCode !== 0) throw new Error(`The packages cannot be made: ${stderr.toString()}`)
    return await readDownloads(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

/**
 * Returns the version that this build would release; null if it cannot be a release. Makes nothing, so that a start in
 * a checkout costs nothing.
 */
export async function versionToRelease(): Promise<string | null> {
  const { version } = packageJson
  const manifest = await readIfAny(readManifest(downloadsFolder, 'client'))
  if (manifest) return manifest.version === version ? version : null
  const released = await readIfAny(readFile(releasedFile, 'utf8'))
  return released !== undefined && version in JSON.parse(released) ? version : null
}

async function readDownloads(folder: string): Promise<Downloads> {
  const packages: PackageDownload[] = []
  for (const name of packageNames) {
    const manifest = await readManifest(folder, name)
    const archive = await readBytes(join(folder, `${name}-${manifest.version}.tgz`))
    packages.push({ name, manifest, archive })
  }
  const { version } = await readManifest(folder, 'partnerctl')
  return {
    version,
    isRelease: version === packageJson.version,
    packages,
    commandLine: await readBytes(join(folder, 'partnerctl.mjs')),
    checksums: await readFile(join(folder, 'SHA256SUMS'), 'utf8'),
  }
}

async function readManifest(folder: string, name: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))
}

async function readBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(path))
}

/** Resolves to undefined if the read fails because there is no such file. */
async function readIfAny<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error) => {
    if (!isMissingFile(error)) throw error
    return undefined
  })
}
