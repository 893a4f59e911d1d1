import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/processes.ts'

const partners = join(root, 'cli/partner/commands')
const files = [
  ...['main', 'partner/main', 'partner/format-error'].map((name) => join(root, `cli/${name}.ts`)),
  ...readdirSync(partners).map((name) => join(partners, name)),
]

/** Returns the packages that a file loads, except packages that are imported only when a command needs them. */
async function packagesOf(file: string): Promise<Set<string>> {
  const packages = new Set<string>()
  const watch = {
    name: 'watch',
    setup(build: Bun.PluginBuilder) {
      build.onResolve({ filter: /^[^./]/ }, ({ kind, path }) => {
        if (kind !== 'dynamic-import' && path !== file) packages.add(path)
        return path === file ? undefined : { path, external: true }
      })
      build.onResolve({ filter: /^\./ }, ({ kind, path }) =>
        kind === 'dynamic-import' ? { path, external: true } : undefined,
      )
    },
  }
  await Bun.build({ entrypoints: [file], target: 'bun', plugins: [watch] })
  return packages
}

test('no command of a partner loads the packages of the database, which take longer than the command', async () => {
  const loaded = await Promise.all(files.map(packagesOf))
  expect(loaded.flatMap((packages) => [...packages])).toContain('citty')
  for (const [index, packages] of loaded.entries())
    expect({
      file: files[index],
      loaded: ['mongoose', 'mongodb', 'ioredis'].filter((name) => packages.has(name)),
    }).toEqual({ file: files[index], loaded: [] })
})
