import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BunPlugin } from 'bun'
import packageJson from '../package.json' with { type: 'json' }
import type { PackageFiles } from './archive.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const guideFolder = join(root, 'docs/guide')

/** Returns the manifest of `@partner-interface/partnerctl`. */
export function partnerctlManifest(version: string) {
  return {
    name: '@partner-interface/partnerctl',
    version,
    description: 'The partner interface from the command line: polls, hints, certification, tools for agents',
    type: 'module',
    bin: { partnerctl: 'partnerctl.mjs' },
    files: ['partnerctl.mjs', 'README.md'],
    engines: { node: '>=20.3' },
    license: 'UNLICENSED',
  }
}

/** Puts the guide's chapters into the bundle, because the file is installed without the repository. */
const bundledGuide: BunPlugin = {
  name: 'bundled-guide',
  setup(build) {
    build.onLoad({ filter: /cli\/partner\/guide\/chapter-files\.ts$/ }, async () => {
      const chapters: Record<string, string> = {}
      for (const file of (await readdir(guideFolder)).sort())
        if (/^\d\d-.+\.md$/.test(file)) chapters[file] = await readFile(join(guideFolder, file), 'utf8')
      const contents = `export const readChapterFiles = () => (${JSON.stringify(chapters)})`
      return { contents, loader: 'js' }
    })
  },
}

/**
 * Returns a plugin that puts nothing of the project's `package.json` into the bundle except the version that the command
 * line reports. Otherwise, every change of a development package would make another build.
 */
function ownVersion(version: string): BunPlugin {
  return {
    name: 'own-version',
    setup(build) {
      build.onLoad({ filter: /\/package\.json$/ }, ({ path }) =>
        path === join(root, 'package.json')
          ? { contents: JSON.stringify({ version }), loader: 'json' }
          : undefined,
      )
    },
  }
}

/**
 * Bundles the partners' commands into one file, which runs in Node 20.3 and later and in Bun (decisions §30).
 *
 * @param version the version that `partnerctl --version` prints
 * @throws Error if the bundle cannot be made or contains a path of this machine
 */
export async function bundlePartnerctl(version = packageJson.version): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, 'cli/partner/main.ts')],
    root,
    target: 'node',
    format: 'esm',
    minify: { whitespace: true, syntax: true, identifiers: false },
    banner: '#!/usr/bin/env node',
    plugins: [bundledGuide, ownVersion(version)],
  })
  const [bundle] = outputs
  if (!bundle || outputs.length > 1) throw new Error('The command line is not one file')
  const text = await bundle.text()
  if (text.includes(root)) throw new Error('The command line contains a path of the machine that bundled it')
  return text
}

/** Returns the files of the package. */
export async function buildPartnerctl(bundle: string, version: string): Promise<PackageFiles> {
  return new Map([
    ['partnerctl.mjs', bundle],
    ['README.md', await readFile(join(root, 'cli/partner/README.md'), 'utf8')],
    ['package.json', `${JSON.stringify(partnerctlManifest(version), null, 2)}\n`],
  ])
}
