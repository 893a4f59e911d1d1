import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { $ } from 'bun'
import type { PackageFiles } from './archive.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Returns the manifest of `@partner-interface/client`. */
export function clientManifest(version: string) {
  return {
    name: '@partner-interface/client',
    version,
    description: 'Client of the partner interface: bookings, feeds, retries and webhooks',
    type: 'module',
    sideEffects: false,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    files: ['*.js', '*.d.ts', '*.map', 'README.md'],
    engines: { node: '>=20.3' },
    license: 'UNLICENSED',
  }
}

/** Compiles the client; returns modules with declarations and source maps. */
export async function compileClient(): Promise<PackageFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-client-'))
  try {
    await $`node_modules/typescript-7/bin/tsc -p client/tsconfig.build.json --outDir ${folder}`
      .cwd(root)
      .quiet()
    const files: PackageFiles = new Map()
    for (const name of await readdir(folder)) {
      const text = await readFile(join(folder, name), 'utf8')
      files.set(name, name.endsWith('.map') ? withoutFolders(text) : text)
    }
    return files
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the files of the package: what {@link compileClient} returns, the README and the manifest. */
export async function buildClient(compiled: PackageFiles, version: string): Promise<PackageFiles> {
  const files: PackageFiles = new Map(compiled)
  files.set('README.md', await readFile(join(root, 'client/README.md'), 'utf8'))
  files.set('package.json', `${JSON.stringify(clientManifest(version), null, 2)}\n`)
  return files
}

/** Removes the path from the compiler's folder to the sources from a source map, which contains the sources. */
function withoutFolders(map: string): string {
  const { sources, ...rest } = JSON.parse(map) as { sources: string[] }
  const names = sources.map((source) => source.replace(/.*\//, 'src/'))
  return JSON.stringify({ ...rest, sources: names })
}
