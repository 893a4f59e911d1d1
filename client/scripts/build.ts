import { cp, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { $ } from 'bun'
import packageJson from '../../package.json' with { type: 'json' }

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Builds the package as it is published: modules with declarations and source maps, and a README.
 *
 * @param dist absolute path of a folder, which is replaced
 */
export async function buildClient(dist: string): Promise<void> {
  await rm(dist, { recursive: true, force: true })
  await $`node_modules/typescript-7/bin/tsc -p client/tsconfig.build.json --outDir ${dist}`
    .cwd(fileURLToPath(new URL('../..', import.meta.url)))
    .quiet()
  await cp(`${root}README.md`, `${dist}/README.md`)
  const manifest = {
    name: 'partner-interface-client',
    version: packageJson.version,
    description: 'Client of the partner interface: bookings, feeds, retries and webhooks',
    type: 'module',
    sideEffects: false,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    files: ['*.js', '*.d.ts', '*.map', 'README.md'],
    engines: { node: '>=20.3' },
    license: 'UNLICENSED',
  }
  await Bun.write(`${dist}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`)
}

if (import.meta.main) await buildClient(`${root}dist`)
