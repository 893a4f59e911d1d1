import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/processes.ts'

const partners = join(root, 'cli/partner/commands')
const files = [
  ...['main', 'partner/main', 'partner/format-error'].map((name) => join(root, `cli/${name}.ts`)),
  ...readdirSync(partners).map((name) => join(partners, name)),
]

/** What files load when they are imported, except what is imported only when a command needs it. */
interface Loaded {
  /** Packages and modules of the runtime. */
  packages: Set<string>
  /** Our own files, below the project folder. */
  files: Set<string>
}

async function loadedBy(...entrypoints: string[]): Promise<Loaded> {
  const packages = new Set<string>()
  const files = new Set<string>()
  const scanner = new Bun.Transpiler({ loader: 'ts' })
  const visit = async (file: string): Promise<void> => {
    if (files.has(relative(root, file))) return
    files.add(relative(root, file))
    if (file.endsWith('.json')) return
    const text = (await readFile(file, 'utf8')).replace(/^#!.*/, '')
    for (const { kind, path } of scanner.scanImports(text)) {
      if (kind === 'dynamic-import') continue
      if (path.startsWith('.')) await visit(resolve(dirname(file), path))
      else packages.add(path)
    }
  }
  for (const file of entrypoints) await visit(file)
  return { packages, files }
}

test('no command of a partner loads the packages of the database, which take longer than the command', async () => {
  const loaded = await Promise.all(files.map(async (file) => (await loadedBy(file)).packages))
  expect(loaded.flatMap((packages) => [...packages])).toContain('citty')
  for (const [index, packages] of loaded.entries())
    expect({
      file: files[index],
      loaded: ['mongoose', 'mongodb', 'ioredis'].filter((name) => packages.has(name)),
    }).toEqual({ file: files[index], loaded: [] })
})

/** Cron jobs start a poll each minute, and most of them find nothing. Starting takes longer than the poll itself. */
test('a poll loads few files, and of packages and modules of the runtime only what every poll needs', async () => {
  const { packages, files } = await loadedBy(join(root, 'cli/main.ts'), join(partners, 'poll.ts'))
  expect([...packages].sort()).toEqual([
    'citty',
    'node:events',
    'node:fs',
    'node:fs/promises',
    'node:module',
    'node:os',
    'node:path',
    'node:stream/consumers',
    'node:timers/promises',
  ])
  expect([...files].filter((file) => !/^(cli|client\/src)\//.test(file))).toEqual(['package.json'])
  expect(files.size).toBeLessThanOrEqual(49)
})
