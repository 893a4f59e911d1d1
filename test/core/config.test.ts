import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ConfigError, readConfig } from '../../src/core/config.ts'

const root = new URL('../..', import.meta.url)

test('the settings table of the README names exactly the existing settings', async () => {
  const read = new Set<string>()
  const environment = new Proxy({} as Record<string, string>, {
    get: (_, name: string) => {
      read.add(name)
      return undefined
    },
  })
  readConfig(environment)
  const readme = await readFile(new URL('README.md', root), 'utf8')
  const table =
    readme.split('## Settings')[1]?.split('\n## ')[0]?.split('The command line of a partner')[0] ?? ''
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
  )
  expect(named.sort()).toEqual([...read].sort())
})

test('readConfig() names every invalid setting and shows none of the values', () => {
  const wrong = {
    PORT: 'x',
    WORKERS: '0',
    SECRET_KEY: 'short',
    OTHER_SECRET_KEYS: `${'x'.repeat(40)}, short`,
    REQUEST_IDS: 'maybe',
    MONGODB_URL: 'http://db',
  }
  let problems: string[] = []
  try {
    readConfig(wrong)
  } catch (error) {
    problems = (error as ConfigError).problems
  }
  expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual(Object.keys(wrong).sort())
  expect(problems.join()).not.toContain('short')
})

test('readConfig() reads several previous secrets and refuses a secret that could not be listed among them', () => {
  const [one, two] = ['1'.repeat(32), '2'.repeat(32)]
  expect(readConfig({ OTHER_SECRET_KEYS: `${one}, ${two}` }).otherSecretKeys).toEqual([one, two])
  expect(readConfig({}).otherSecretKeys).toEqual([])
  expect(() => readConfig({ SECRET_KEY: `${one},${two}` })).toThrow('SECRET_KEY must not contain a comma')
})

test("the default data folder is the project's own, whatever folder a command is started in", async () => {
  const script = `import { readConfig } from '${root.pathname}src/core/config.ts'; console.log(readConfig({}).dataDir)`
  const child = Bun.spawn([process.execPath, '-e', script], { cwd: tmpdir(), stdout: 'pipe' })
  expect((await new Response(child.stdout).text()).trim()).toBe(join(root.pathname, 'data'))
})
