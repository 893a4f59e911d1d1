import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMissingFile } from '../../core/file-errors.ts'

/**
 * Folder of the files that partners download. The image's build fills it, because the image lacks the tools to do so.
 */
export const downloadsFolder = fileURLToPath(new URL('../../../downloads/', import.meta.url))

const builder = fileURLToPath(new URL('../../../packages/build.ts', import.meta.url))

/** The files that partners install (decisions §30), as `packages/build.ts` makes them. */
export interface Downloads {
  packages: PackageDownload[]
  /** The command line as one file. */
  commandLine: Uint8Array<ArrayBuffer>
  /** Checksums of the command line and the archives, as `sha256sum` prints them. */
  checksums: string
}

export interface PackageDownload {
  /** Name of the package without its name space. */
  name: (typeof packageNames)[number]
  manifest: { name: string; version: string }
  /** File name of the archive, such as `client-1.0.0.tgz`. */
  file: string
  archive: Uint8Array<ArrayBuffer>
}

const packageNames = ['client', 'partnerctl'] as const

/** Loads the files that the image's build has made. In a checkout, makes them now, in a process of their own. */
export async function loadDownloads(): Promise<Downloads> {
  try {
    return await readDownloads(downloadsFolder)
  } catch (error) {
    if (!isMissingFile(error)) throw error
  }
  const folder = await mkdtemp(join(tmpdir(), 'partner-packages-'))
  try {
    const { exitCode, stderr } = await Bun.$`${process.execPath} ${builder} ${folder}`.quiet().nothrow()
    if (exitCode !== 0) throw new Error(`The packages cannot be made: ${stderr.toString()}`)
    return await readDownloads(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function readDownloads(folder: string): Promise<Downloads> {
  const packages: PackageDownload[] = []
  for (const name of packageNames) {
    const manifest = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))
    const file = `${name}-${manifest.version}.tgz`
    packages.push({ name, manifest, file, archive: await readBytes(join(folder, file)) })
  }
  return {
    packages,
    commandLine: await readBytes(join(folder, 'partnerctl.mjs')),
    checksums: await readFile(join(folder, 'SHA256SUMS'), 'utf8'),
  }
}

async function readBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(path))
}
