import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root } from './support/processes.ts'

/** Each packed line, and what the check must say about it. */
const packed = {
  'export const fields = { ...{ a: one, b: two }, c: 3 }': 'Write each field on a line of its own',
  'export const some = { c: 3, ...({ a: one, b: two } as const) }': 'Write each field on a line of its own',
  "export const list = [...['a', 'b'], 'c']": 'Write the elements themselves',
  'export const most = Math.max(...[one, two])': 'Write the elements themselves',
  'export const [three, four] = [one + two, two + two]': 'Write a statement for each value',
  ';[one, two] = [two, one]': 'Write a statement for each value',
  'export const { five, six } = { five: one, six: two }': 'Write a statement for each value',
  'export const nested = one ? 1 : two ? 2 : 3': 'Do not nest ternary expressions',
  'export const inner = one ? (two ? 1 : 2) : 3': 'Do not nest ternary expressions',
  'export const add = (a: number, b: number, c: number, d: number, e: number) => a + b + c + d + e':
    'Function has 5 parameters, but only 4 are allowed',
  'export const never = one as never': 'Declare the type that is missing',
  'export const twice = one as unknown as string': 'Declare the type that is missing',
  'export const any = one as any': 'Unexpected any',
}
const allowed = [
  'let one = 1',
  'let two = 2',
  'export const optional = { ...(one === two ? {} : { one }), two }',
  'export const [seven, eight] = await Promise.all([Promise.resolve(one), Promise.resolve(two)])',
  'export const sum = (a: number, b: number, c: number, d: number) => a + b + c + d',
  'export const wide = one as number | string',
]

/** The folders with code. */
const folders = ['src', 'cli', 'client/src', 'packages', 'test', 'tools']

test('the check refuses packed lines in every folder with code', async () => {
  const checkout = await mkdtemp(join(tmpdir(), 'partner-lint-'))
  onTestFinished(() => rm(checkout, { recursive: true }))
  await cp(join(root, 'biome.json'), join(checkout, 'biome.json'))
  await cp(join(root, 'tools/lint'), join(checkout, 'tools/lint'), { recursive: true })
  const lines = [...allowed, ...Object.keys(packed)]
  for (const folder of folders) {
    await mkdir(join(checkout, folder), { recursive: true })
    await writeFile(join(checkout, folder, 'made.ts'), `${lines.join('\n')}\n`)
  }
  const biome = join(root, 'node_modules/.bin/biome')
  const options = ['--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', '--error-on-warnings']
  const made = folders.map((folder) => join(folder, 'made.ts'))
  const { exitCode, stdout } = Bun.spawnSync([biome, 'lint', ...options, ...made], { cwd: checkout })
  const found = Object.fromEntries(made.map((file) => [file, {} as Record<string, string>]))
  for (const { message, location } of JSON.parse(stdout.toString()).diagnostics) {
    const line = lines[location.start.line - 1] as string
    const ofFile = found[location.path]
    if (ofFile) ofFile[line] = message
  }
  const expected = Object.fromEntries(
    Object.entries(packed).map(([line, message]) => [line, expect.stringContaining(message)]),
  )
  expect({ exitCode, found }).toEqual({
    exitCode: 1,
    found: Object.fromEntries(made.map((file) => [file, expected])),
  })
})
