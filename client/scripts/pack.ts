import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildClient } from './build.ts'

/** Builds the package and packs it as `npm pack` does, into a gzipped archive of a folder named `package`. */
export async function packClient(): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-client-'))
  try {
    await buildClient(folder)
    const names = (await readdir(folder)).sort()
    const files = await Promise.all(
      names.map(async (name) => [`package/${name}`, await readFile(join(folder, name))] as const),
    )
    return await new Bun.Archive(Object.fromEntries(files), { compress: 'gzip' }).bytes()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
