import { cp, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { $ } from 'bun'
import packageJson from '../../package.json' with { type: 'json' }

/** Builds the package as it is published into `client/dist`: modules with declarations and source maps, and a README. */
const root = fileURLToPath(new URL('..', import.meta.url))
const dist = `${root}dist`
await rm(dist, { recursive: true, force: true })
await $`node_modules/typescript-7/bin/tsc -p client/tsconfig.build.json`.cwd(
  fileURLToPath(new URL('../..', import.meta.url)),
)
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
